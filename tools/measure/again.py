"""Is the same the same again? One state read very often, or one profile written very often.

    python tools/measure/again.py read RUN FOLDER [--times 1000]
    python tools/measure/again.py write PROFILE FOLDER [--times 20]

`read` puts the question for the whole table after one step of a variant of a finished run (the last
one after which most readers were asked) to each of its readers, through one connection, and counts
the answers that are not the first one. A reader that gave another is flaky: it is told where that
one differs. Silence is no answer and so never the same; it is counted apart.
`write` runs a profile with a cache that holds the engines and nothing else, each time another one,
counts the cells whose verdict is not that of the first run, and compares the canonical reports byte
by byte (`alike.py`); it goes on where it was broken off. Status 1 when anything differs, or did not
answer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import Connection, NoAnswerError, RefusedError
from harness.model.canonical import to_json
from harness.run import load_run, pipeline, run_info
from harness.runtime import metastore_client, provide
from harness.runtime.api import MetastoreUris
from harness.scenario.cells import parse_reader
from harness.write import state_store
from tools import alike
from tools.measure.own_cache import with_engines

TIMEOUT_S: Final = 120.0
CANONICAL: Final = "canonical"
SILENT: Final = "no answer: "
"""So begins what stands for an answer where there was none."""
SHOWN: Final = 5
"""So many cases that differ are named."""


@dataclass(slots=True)
class Answers:
    """What a reader said to one question, as often as it was put."""

    reader: str
    first: str = ""
    other: str = ""
    """The first that is not the first one."""
    kinds: Counter[str] = field(default_factory=Counter)

    def take(self, said: str) -> None:
        """Compare with what it answered first."""
        if said.startswith(SILENT):
            self.kinds["no answer"] += 1
            return
        self.first = self.first or said
        if said == self.first:
            self.kinds["same"] += 1
            return
        self.other = self.other or said
        self.kinds["different"] += 1

    @property
    def good(self) -> bool:
        """Whether it answered each time, and each time the same."""
        return self.kinds.keys() == {"same"}

    def told(self) -> Iterator[str]:
        """Yield the lines that say what came of it."""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        yield f"{self.reader}: {counts}; the first: {self.first[:60]}"
        if self.other:
            yield f"  flaky: {alike.first_difference(self.first, self.other)}"


def said(connection: Connection, sql: str) -> str:
    """Return an answer as text; the order of rows is no part of it."""
    try:
        reply = connection.ask(sql, timeout_s=TIMEOUT_S)
    except RefusedError as refused:
        return f"refused: {refused.refusal.kind}: {refused.refusal.message}"
    except NoAnswerError as silence:
        return f"{SILENT}{silence}"
    heads = [(column.name, column.type) for column in reply.columns]
    return json.dumps([heads, sorted(json.dumps([to_json(v) for v in row]) for row in reply.rows)])


def asked(
    found: load_run.Run, variant: str, reader: str
) -> tuple[tuple[str, int], Mapping[str, str]]:
    """Choose the step of a variant after which most readers are asked, the last of several.

    `variant`, `reader`: parts of their names. Gives the state's name, and the SQL of each reader.
    """
    by: dict[tuple[str, int], dict[str, str]] = {}
    for cell in found.info.cells:
        whole = (cell.view, cell.query) == ("snapshot", "all") and cell.case in found.answers
        if whole and variant in cell.variant and reader in cell.reader:
            by.setdefault((cell.variant, cell.step), {})[cell.reader] = found.answers[cell.case].sql
    first = next(iter(by))[0]
    return max(
        ((name, sql) for name, sql in by.items() if name[0] == first),
        key=lambda each: (len(each[1]), each[0][1]),
    )


def read(found: load_run.Run, folder: Path, of: tuple[str, str], times: int) -> Iterator[Answers]:
    """Ask every reader; `of`: parts of the variant's name and of the readers'."""
    cache, quiet = Cache.default(), Progress()
    name, sql = asked(found, *of)
    state = pipeline.states_of(found.states, cache)[name]
    print(f"{name[0]}, step {name[1]}, {times} times", flush=True)
    home = folder / "metastore"
    home.mkdir(parents=True)
    with provide.start_metastore(cache, home, quiet) as shared:
        with metastore_client.connect(shared.uri) as client:
            state_store.register(client, state)
        for number, reader in enumerate(sql):
            place = folder / f"{number}-{parse_reader(reader).distribution}"
            place.mkdir()
            yield _ask(reader, sql[reader], shared.uris, place, times)


def _ask(reader: str, sql: str, uris: MetastoreUris, place: Path, times: int) -> Answers:
    cache, quiet, found = Cache.default(), Progress(), Answers(reader)
    parsed = parse_reader(reader)
    there = provide.runtime(distributions.load(parsed.distribution), cache, quiet)
    engine = engines.load(there.distribution.engine)
    with (
        engine.serve(there, uris, place, quiet) as server,
        closing(server.connect(dict(parsed.settings))) as connection,
    ):
        for _ in range(times):
            found.take(said(connection, sql))
    return found


@dataclass(frozen=True, slots=True)
class RepeatedRun:
    """A run of a profile written anew."""

    number: int
    sums: Mapping[str, str]
    """The SHA-256 of its canonical reports."""
    cells: int
    different: Sequence[str]
    """Cases whose verdicts are not those of the first run."""
    places: Sequence[str]
    """Where its reports are not the first run's, or not what its records give."""


def write(profile: str, folder: Path, times: int) -> Iterator[RepeatedRun]:
    """Run a profile anew again and again, and compare with the first."""
    for number in range(times):
        here = folder / str(number)
        if not (here / "run" / load_run.VERDICTS).exists():
            _run(profile, here)
        yield compared(folder, number)


def compared(folder: Path, number: int) -> RepeatedRun:
    """Compare a run in such a folder with the first one there."""
    first, here = folder / "0", folder / str(number)
    found = load_run.load(here / "run")
    sums = alike.write(found, here / CANONICAL)
    there = alike.verdicts(here / "run")
    different = alike.different(alike.verdicts(first / "run"), there)
    places = *alike.remade_otherwise(found), *alike.differences(first / CANONICAL, here / CANONICAL)
    return RepeatedRun(number, sums, len(there), different, places)


def _run(profile: str, here: Path) -> None:
    cache = with_engines(here / "cache")
    command = [sys.executable, "-m", "harness", "run", "--show", "--quiet"]
    going_on = (here / "run" / run_info.INFO).exists()
    how = ["--resume"] if going_on else ["--profile", profile]
    environment = {**os.environ, "HARNESS_CACHE": str(cache)}
    command += [*how, "--run-dir", str(here / "run")]
    status = subprocess.run(command, env=environment, check=False).returncode
    # Another verdict than before may end a run with another status; it is counted, as are all.
    if not (here / "run" / load_run.VERDICTS).exists():
        raise SystemExit(f"the run in {here} ended with status {status} and judged nothing")


def _tell(written: RepeatedRun) -> int:
    """Print what came of a run; give 1 when anything differs."""
    print(f"run {written.number}: {written.cells} verdicts, {len(written.different)} differ")
    sums = (f"{sum_}  {name}" for name, sum_ in written.sums.items())
    cases = (f"differs: {case}" for case in written.different[:SHOWN])
    for line in (*sums, *cases, *written.places):
        print(f"  {line}", flush=True)
    return int(bool(written.different or written.places))


def main() -> int:
    """Do what is asked, and print a line for each reader or run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("what", choices=("read", "write"))
    parser.add_argument("of", help="a finished run's folder, or a profile")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--variant", default="hudi-mor", help="read: a part of the variant's name")
    parser.add_argument("--reader", default="", help="read: a part of the readers' names")
    given = parser.parse_args()
    folder, bad = given.folder.resolve(), False
    if given.what == "write":
        return max(map(_tell, write(given.of, folder, given.times or 20)), default=0)
    of = given.variant, given.reader
    for answers in read(load_run.load(Path(given.of)), folder, of, given.times or 1000):
        print("\n".join(answers.told()), flush=True)
        bad |= not answers.good
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
