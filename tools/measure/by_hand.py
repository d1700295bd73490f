"""Run the scripts of reproducers as a person would, with the engines' own clients, and compare.

    python tools/measure/by_hand.py REPRODUCERS FOLDER [--table FILE]

What is written goes to `spark-sql -f`; the query to another `spark-sql -f`, to `beeline -f` or to
Trino's Python client (`by_hand_trino.py`). No question, session or connection is the harness's own:
it only starts the servers. FOLDER is a new one, for tables, logs and what the clients printed.
Status 1 when anything is not as the script says, a moment of the past is not in the table that was
written, a client did not end in time, or there was none to run. A script without a query is not
asked, and told.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

import pyspark

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.fetch import Installation
from harness.cli.reproduce.files import SCRIPT
from harness.core.progress import Progress
from harness.read.questions import engine_of
from harness.runtime import provide
from harness.runtime.api import MetastoreUris
from harness.runtime.process_runtime import ProcessRuntime
from harness.scenario.cells import parse_reader
from tools.measure import by_hand_script, by_hand_table
from tools.measure.by_hand_moment import NoMomentError, filled
from tools.measure.by_hand_script import Script, ScriptSection

TRINO: Final = Path(__file__).with_name("by_hand_trino.py")
CLIENTS: Final = Path(pyspark.__file__).parent / "bin"
TIMEOUT_S: Final = 1800.0
SAME: Final = "as it says"
OTHERWISE: Final = "OTHERWISE"
LATE: Final = f"did not end in {TIMEOUT_S / 60:.0f} minutes"
NOT_WRITTEN: Final = f"its writer {LATE}"
NO_QUERY: Final = "not asked, its writer is what is shown"
NOT_SQL: Final = "not asked, a step of its writer is no SQL"
NO_MOMENT: Final = "not asked, its moment is not in the table that was written"
QUIET: Final = (
    *("spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1", "spark.log.level=ERROR"),
    "spark.sql.cli.print.header=true",
    # As the harness has them: a machine with many processors would write other files.
    *("spark.sql.shuffle.partitions=2", "spark.default.parallelism=2"),
)


class LateError(Exception):
    """A client did not end in time: what it printed until then tells nothing."""


@dataclass(slots=True)
class EngineClients:
    """The engines' own clients, and the ports of the servers that they ask."""

    uri: str
    folder: Path
    stack: ExitStack
    ports: dict[str, int] = field(default_factory=dict)

    def write(self, scripts: Sequence[Script]) -> Sequence[Script]:
        """Write the tables of all scripts, those of one writer in one go; give what is written.

        Of those whose writer did not end in time nothing is known, and nothing more is written.
        """
        left = list(scripts)
        for turn in range(max((len(each.writing) for each in scripts), default=0)):
            due = sorted(
                (each for each in left if turn < len(each.writing)),
                key=lambda each: each.writing[turn].engine,
            )
            for writer, group in groupby(due, key=lambda each: each.writing[turn].engine):
                found = list(group)
                try:
                    self._write(writer, [each.writing[turn] for each in found])
                except LateError:
                    left = [each for each in left if each not in found]
        return left

    def _write(self, writer: str, parts: Sequence[ScriptSection]) -> None:
        lines = [line for part in parts for line in part.statements]
        self._spark(f"write-{writer}", writer, parts[0].conf, lines)

    def ask(self, script: Script, query: ScriptSection) -> str:
        """Put a script's query; give what the client printed."""
        name = parse_reader(query.engine).distribution
        engine = distributions.load(name).engine
        if engine == "spark":
            return self._spark(script.name, name, script.writing[-1].conf, query.statements)
        if engine == "hive":
            return self._beeline(script.name, self._port(name), query.statements)
        return self._trino(script.name, name, query.statements[-1:])

    def _spark(self, name: str, of: str, conf: Sequence[str], lines: Sequence[str]) -> str:
        found = _installation(of)
        jars = ",".join(str(each) for each in found.jars("front"))
        settings = (*QUIET, f"spark.sql.warehouse.dir={self.folder / 'warehouse'}", *conf)
        command = [str(CLIENTS / "spark-sql"), "--master", "local[2]", "--driver-memory", "1g"]
        command += ["--jars", jars, *(word for each in settings for word in ("--conf", each))]
        # One statement that is refused, as a step may be, does not keep the others from being run.
        command += ["--hiveconf", "hive.cli.errors.ignore=true"]
        return self._client(name, [*command, "-f", self._file(name, lines)], found)

    def _beeline(self, name: str, port: int, lines: Sequence[str]) -> str:
        url = f"jdbc:hive2://127.0.0.1:{port}/default;auth=noSasl"
        how = ("--silent=true", "--outputformat=tsv2", "--nullemptystring=false")
        command = [str(CLIENTS / "beeline"), "-u", url, "-n", "somebody", *how]
        found = _installation("spark-3.5.8")
        return self._client(name, [*command, "-f", self._file(name, lines)], found)

    def _trino(self, name: str, of: str, lines: Sequence[str]) -> str:
        command = [sys.executable, "-X", "utf8", str(TRINO), str(self._port(of))]
        return self._client(name, [*command, self._file(name, lines)], _installation(of))

    def _client(self, name: str, command: Sequence[str], found: Installation) -> str:
        place = {"JAVA_HOME": str(found.java_home), "SPARK_LOCAL_IP": "127.0.0.1"}
        log = self.folder / f"{name}.log"
        with log.open("w", encoding="utf-8") as printed:
            try:
                subprocess.run(
                    command, env={**os.environ, **place}, cwd=self.folder, timeout=TIMEOUT_S,
                    stdout=printed, stderr=subprocess.STDOUT, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired as late:
                raise LateError(name) from late
        return log.read_text(encoding="utf-8", errors="replace")

    def _file(self, name: str, lines: Sequence[str]) -> str:
        path = self.folder / f"{name}.sql"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    def _port(self, name: str) -> int:
        if name not in self.ports:
            place = self.folder / name
            place.mkdir()
            engine = engine_of(name)
            serving = engine.serve(
                ProcessRuntime(_installation(name)), MetastoreUris(self.uri), place, Progress()
            )
            self.ports[name] = self.stack.enter_context(serving).port  # type: ignore[attr-defined]
        return self.ports[name]


def _installation(name: str) -> Installation:
    return fetch.ensure(distributions.load(name), Cache.default(), Progress())


def _paths(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob(f"*/{SCRIPT}"))


def found_in(folder: Path) -> Iterator[Script]:
    """Read the scripts of the reproducers in a folder."""
    for path in _paths(folder):
        yield by_hand_script.parse(path.parent.name, path.read_text(encoding="utf-8"))


def run(scripts: Sequence[Script], folder: Path) -> Iterator[tuple[Script, str]]:
    """Write all, then put each query; tell of each what came of it."""
    home = folder / "metastore"
    home.mkdir(parents=True)
    with (
        provide.start_metastore(Cache.default(), home, Progress()) as shared,
        ExitStack() as stack,
    ):
        clients = EngineClients(shared.uri, folder, stack)
        own = [
            by_hand_script.placed(each, f"by_hand_{n}", str(folder / "tables" / str(n)), shared.uri)
            for n, each in enumerate(scripts)
        ]
        yield from results(clients, own)


def results(clients: EngineClients, scripts: Sequence[Script]) -> Iterator[tuple[Script, str]]:
    """Let the clients write all tables and put each query; yield what came of each."""
    print(f"write {len(scripts)} tables", flush=True)
    written = clients.write([each for each in scripts if each.sql])
    for script in scripts:
        if not script.sql:
            yield script, NOT_SQL
        elif script.query and script not in written:
            yield script, NOT_WRITTEN
        elif script.query:
            yield script, _asked(clients, script, script.query)


def _asked(clients: EngineClients, script: Script, query: ScriptSection) -> str:
    try:
        query = filled(query, Path(script.location))
        printed = clients.ask(script, query)
    except NoMomentError:
        return NO_MOMENT
    except LateError:
        return LATE
    return SAME if by_hand_script.alike(query, printed) else OTHERWISE


def _told(came: Iterable[tuple[Script, str]]) -> Iterator[tuple[Script, str]]:
    """Print what came of each script as it comes."""
    for script, result in came:
        print(f"{result}: {script.name}", flush=True)
        yield script, result


def _write_table(path: Path, scripts: Sequence[Script], came: Sequence[tuple[Script, str]]) -> None:
    """Write the tables of all scripts, those that were not asked too."""
    results = {script.name: result for script, result in came}
    every = ((each, results[each.name] if each.query else NO_QUERY) for each in scripts)
    beside = {each.parent.name for each in _paths(path.parent)}
    path.write_text("\n".join(by_hand_table.lines(every, beside)) + "\n", encoding="utf-8")


def main() -> int:
    """Run them, and print what came of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reproducers", type=Path, help="a folder of reproducers")
    parser.add_argument("folder", type=Path, help="for tables and logs; a new one")
    parser.add_argument("--table", type=Path, help="a file for Markdown tables of what came")
    given = parser.parse_args()
    scripts = list(found_in(given.reproducers))
    came = list(_told(run(scripts, given.folder.resolve())))
    found = Counter(result for _, result in came)
    if given.table:
        _write_table(given.table, scripts, came)
    asked = found.total() - found[NO_MOMENT] - found[NOT_SQL]
    same, other, left = found[SAME], found[OTHERWISE], len(scripts) - asked
    late = asked - same - other
    said = f"{same} as their scripts say, {other} otherwise, {late} not in time"
    print(f"{said}, {left} not asked")
    return 0 if same and same == found.total() else 1


if __name__ == "__main__":
    sys.exit(main())
