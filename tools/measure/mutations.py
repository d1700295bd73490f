"""Use Hive's Streaming Mutation API as its documentation warns of, and see what comes of it.

    python tools/measure/mutations.py build/mutations

Every case has a table of its own, whose rows came by the API. What was seen is a line in
FOLDER/mutations.jsonl. Prints it as a table: what the documentation says, what was done, what the
library threw, what HiveServer2 shows afterwards.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness import engines
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact
from harness.artifacts.fetch import Installation
from harness.artifacts.lock import coordinates
from harness.core.progress import Progress
from harness.engines.api import Connection
from harness.formats.hive_acid.format import SESSION
from harness.runtime import hive_launcher, provide, work_folders
from harness.runtime.hive_mutation import PROGRAM
from harness.runtime.process import Command, finished
from harness.write.send_mutation import row_id
from tools.markdown_table import table
from tools.measure.mutations_cases import (
    CASES,
    EACH,
    KEYS,
    LINES,
    STREAMED,
    TIMEOUT,
    Act,
    MutationCase,
    RowIds,
)

HERE: Final = Path(__file__).parent
LIMIT_S: Final = 300.0
METASTORE: Final = "hive-metastore-3.1.3-impatient"
IMPATIENT: Final = f"""
name: {METASTORE}
like: hive-metastore-3.1.3
overlay: short time-outs of transactions
settings:
  site:
    metastore.compactor.initiator.on: "true"
    metastore.txn.timeout: {TIMEOUT}
    metastore.timedout.txn.reaper.start: 1s
    metastore.timedout.txn.reaper.interval: 2s
"""
"""One without an initiator of compactions ends no transactions either (Hive 3.1.3)."""
STREAMING: Final = Artifact(
    coordinates("org.apache.hive:hive-streaming:3.1.3:jar"),
    66084,
    "3e708768b03f89c23ef2d9c66637dcb90a2715b662f41f1064795e6433ab5a6e",
    "front",
)
"""The library of the Streaming API, beside that of the Mutation API."""
LIBRARY: Final = "hive-mutation-3.1.3"
HEAD: Final = ("the documentation says", "what was done", "thrown", "shown then")
COLUMNS: Final = {"columns": ["id", "f"], "types": ["string", "string"], "buckets_by": [0]}


@dataclass(frozen=True, slots=True)
class Bench:
    """What the cases are carried out with."""

    hive: Connection
    metastore: str
    library: Installation
    folder: Path
    numbers: Iterator[int] = field(default_factory=count)

    def ask(self, sql: str) -> tuple[tuple[Any, ...], ...]:
        """Ask HiveServer2."""
        return self.hive.ask(sql, timeout_s=LIMIT_S).rows

    def create(self, *, partitioned: bool) -> str:
        """Return the name of a new table with the usual rows."""
        name = f"t{next(self.numbers)}"
        by = " partitioned by (p string)" if partitioned else ""
        self.ask(
            f"create table d.{name} (id string, f string){by} clustered by (id) into 2 buckets "
            "stored as orc tblproperties ('transactional' = 'true')"
        )
        partition = ["a"] if partitioned else []
        rows = [
            {"do": "insert", "partition": partition, "row": {"id": key, "f": "a"}} for key in KEYS
        ]
        self.send(name, rows)
        return name

    def send(self, name: str, acts: Sequence[Act], **more: object) -> Mapping[str, Any]:
        """Send a batch; return what the program replied."""
        told = {"table": name, "creates": True, **COLUMNS, "acts": acts, **more}
        return self.run(("mutations.groovy", str(PROGRAM)), told)

    def run(self, script: tuple[str, ...], told: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run a program in a folder of its own."""
        folder = work_folders.numbered(self.folder, "program", self.numbers)
        request, reply = folder / "request.json", folder / "reply.json"
        request.write_text(json.dumps({"metastore": self.metastore, "database": "d", **told}))
        name, *first = script
        main = ("groovy.ui.GroovyMain", str(HERE / name), *first, str(request), str(reply))
        command = hive_launcher.command(self.library, folder, main)
        finished(Command(command, folder, folder / "program.log"), LIMIT_S)
        found: Mapping[str, Any] = json.loads(reply.read_text())
        return found

    def ids(self, name: str) -> RowIds:
        """Return the `ROW__ID` of the rows of a table."""
        return {
            key: row_id(of) for of, key in self.ask(f"select ROW__ID, id from d.{name} order by id")
        }

    def shown(self, name: str, *, partitioned: bool = False) -> str:
        """Return the rows of a table, each as its key and value, and its partition."""
        last = ", p" if partitioned else ""
        rows = self.ask(f"select id, f{last} from d.{name} order by id, f{last}")
        return " ".join("".join(map(str, each)) for each in rows)


@dataclass(frozen=True, slots=True)
class SentBatch:
    """What came of a batch."""

    says: str
    does: str
    before: str
    """The rows that HiveServer2 showed; so are `shown` and `then`."""
    thrown: tuple[Mapping[str, str], ...]
    """Kind and message of each error, in order."""
    lost: tuple[Mapping[str, str], ...]
    """The same of what the listener was told."""
    others: tuple[Mapping[str, str], ...]
    """And of what the other client met."""
    shown: str
    then: tuple[str, ...]
    """What is shown after what was done at last, if anything was."""
    writer: str = LIBRARY


def main() -> None:
    """Carry out all cases, note, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("folder", type=Path, help="for processes, logs and lines; a new one")
    options.add_argument("--only", default="", help="cases whose description matches this pattern")
    given = options.parse_args()
    folder, found = given.folder.resolve(), list[SentBatch]()
    with bench(folder) as on, (folder / "mutations.jsonl").open("w", encoding="utf-8") as log:
        for each in sent(on, given.only):
            found.append(each)
            log.write(_anywhere(json.dumps(asdict(each)), folder) + "\n")
            log.flush()
            print(each.does, file=sys.stderr)
    print(_anywhere("\n".join(table(HEAD, map(row, found))), folder))


def sent(on: Bench, only: str) -> Iterator[SentBatch]:
    """Carry out those cases, and the lines of the Streaming API, whose description matches."""
    for case in (each for each in CASES if re.search(only, each.does)):
        yield carried_out(on, case)
    if re.search(only, LINES):
        yield streamed(on)


def row(of: SentBatch) -> tuple[str, ...]:
    """Return what came of a batch as a row of the table."""
    told = [_text(each) for each in of.thrown]
    told += [f"listener: {_text(each)}" for each in of.lost]
    told += [f"the other client: {_text(each)}" for each in of.others]
    shown = ", then ".join(f"`{each}`" for each in (of.shown, *of.then))
    return of.says, of.does, "; ".join(told) or "nothing", shown


def carried_out(found: Bench, case: MutationCase) -> SentBatch:
    """Carry out a case; return what came of it."""
    name = found.create(partitioned=case.partitioned)
    before = found.shown(name, partitioned=case.partitioned)
    reply = found.send(name, case.acts(found.ids(name)), **case.request)
    shown, then = found.shown(name, partitioned=case.partitioned), list[str]()
    if case.then:
        found.ask(case.then.format(table=f"d.{name}"))
        then.append(found.shown(name, partitioned=case.partitioned))
    thrown, lost, others = (tuple(reply[each]) for each in ("thrown", "lost", "others"))
    return SentBatch(case.says, case.does, before, thrown, lost, others, shown, tuple(then))


def streamed(found: Bench) -> SentBatch:
    """Write lines by the Streaming API; return what came of them."""
    name = found.create(partitioned=False)
    before = found.shown(name)
    acts = [{"line": line, "ends": ends} for line, ends in STREAMED]
    reply = found.run(("streaming.groovy",), {"table": name, "acts": acts})
    return SentBatch(EACH, LINES, before, tuple(reply["thrown"]), (), (), found.shown(name), ())


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """Start a metastore and HiveServer2."""
    distributions.register(METASTORE, IMPATIENT, "mutations.py")
    cache, progress, server = (
        Cache.default(offline=False),
        Progress(),
        distributions.load("hive-3.1.3"),
    )
    folder.mkdir(parents=True)
    places = [work_folders.numbered(folder, each) for each in ("metastore", "hive")]
    with provide.start_metastore(cache, places[0], progress, METASTORE) as running:
        how = provide.runtime(server, cache, progress, folder)
        with engines.load("hive").serve(how, running.uris, places[1], progress) as hive:
            lock = distributions.load(LIBRARY)
            more = replace(lock, artifacts=(*lock.artifacts, STREAMING))
            library = fetch.ensure(more, cache, progress)
            with closing(hive.connect({})) as connection:
                found = Bench(connection, running.uri, library, folder)
                for name, value in SESSION.items():
                    found.ask(f"set {name}={value}")
                found.ask("create database d")
                yield found


def _anywhere(text: str, folder: Path) -> str:
    """Return a text that does not tell where the tables were."""
    return text.replace(str(folder), "FOLDER")


def _text(error: Mapping[str, str]) -> str:
    return f"`{error['kind']}`: {error['message'].partition(chr(10))[0]}"


if __name__ == "__main__":
    main()
