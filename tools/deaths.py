"""Kill the harness, or something it started, at a random moment; go on; compare the verdicts.

    python tools/deaths.py --runs 200 --seed 1 --jobs 2 --folder build/deaths

The folder keeps the outcome of each run (`deaths.jsonl`) and the undisturbed runs: the same command
goes on with the runs that are not there. So a folder belongs to one state of the program.

Each run takes one engine's cells of `deaths_scenarios`; where tables are written too, there are
several, so that the engine reads some while others are written. One process gets SIGKILL (or
SIGSTOP, for one that hangs) at a random moment of all the time that its like are there in an
undisturbed run; then `harness run --resume` must end with the verdicts of that run, times and
names of files apart. No process may outlive a harness; no verdict of a disturbed run may be other
than the undisturbed one or unknown, also when what a death left is judged as it is; and nothing
half-made may be left. A run that is over before the blow falls is done again, up to five times;
after that it is not counted, and left to the next go.
Prints a table: target, runs, outcomes. Ends with 1 if any failed.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.artifacts import cache as caches
from harness.artifacts import table_homes
from harness.artifacts.cache import MAKING, Cache
from harness.core import jsonl
from harness.core.errors import UsageProblem
from harness.core.records import Verdict
from harness.run import load_run, pipeline
from tools import shared

HARNESS: Final = "harness"
SCENARIOS: Final = Path(__file__).with_name("deaths_scenarios")
WRITER: Final = "spark-3.5.8-hudi-0.15.0"
ICEBERG_WRITER: Final = "spark-3.5.8-iceberg-1.10.1"
READS_BESIDE: Final = "hive-3.1.3"
"""Reads while tables are written."""
ICEBERG_BESIDE: Final = "hive-3.1.3-iceberg-1.4.3"
"""The same of Iceberg's tables."""
ICEBERG_READERS: Final = (ICEBERG_WRITER, ICEBERG_BESIDE)
READERS: Final = (
    "spark-3.5.8-hudi-1.0.2",
    "spark-3.5.8-hudi-1.2.0",
    READS_BESIDE,
    "trino-476",
    "trino-368",
    "prestosql-350",
    "prestodb-0.283",
    *ICEBERG_READERS,
)
METASTORE: Final = "metastore"
SHORT_TIMEOUTS: Final = ("--timeout", "8", "--write-timeout", "30")
"""Where a process is stopped; otherwise the harness's own."""


@dataclass(frozen=True, slots=True)
class DeathKind:
    """What dies, while what is done."""

    target: str
    """`harness`, `metastore`, or a distribution."""
    reader: str
    writes: bool = False
    """Whether tables are written too, or their states are there already."""
    stops: bool = False
    """Whether it hangs (SIGSTOP) instead of being killed."""

    @property
    def struck(self) -> str:
        """The row of the table, whoever reads."""
        how = "hangs" if self.stops else "killed"
        return f"{self.target} {how}{', while tables are written' if self.writes else ''}"

    @property
    def name(self) -> str:
        """What the log calls it, and `--only` looks at."""
        how = "hangs" if self.stops else "killed"
        return f"{self.target} {how}, {'writing and ' if self.writes else ''}{self.reader}"

    @property
    def undisturbed(self) -> str:
        """The name of the undisturbed run that it is compared with."""
        return f"undisturbed-{self.reader}{'-writing' if self.writes else ''}"

    @property
    def cells(self) -> tuple[str, ...]:
        """The options that select the cells; a writer of the same name is no reader."""
        iceberg = "-iceberg" if self.reader in ICEBERG_READERS else ""
        profile = f"deaths{iceberg}{'-writing' if self.writes else ''}"
        return (str(SCENARIOS), "--profile", profile, "-k", f"/all/{self.reader}")

    @property
    def options(self) -> list[str]:
        return [*self.cells, "--fresh", *(SHORT_TIMEOUTS if self.stops else ())]


SHARES: Final[dict[DeathKind, int]] = {
    **{DeathKind(HARNESS, reader): 4 for reader in READERS},
    DeathKind(HARNESS, READS_BESIDE, writes=True): 18,
    DeathKind(HARNESS, ICEBERG_BESIDE, writes=True): 6,
    DeathKind(WRITER, READS_BESIDE, writes=True): 16,
    DeathKind(WRITER, READS_BESIDE, writes=True, stops=True): 4,
    DeathKind(ICEBERG_WRITER, ICEBERG_BESIDE, writes=True): 6,
    DeathKind(ICEBERG_WRITER, ICEBERG_BESIDE, writes=True, stops=True): 2,
    DeathKind(READS_BESIDE, READS_BESIDE, writes=True): 8,
    DeathKind(METASTORE, READS_BESIDE, writes=True): 10,
    DeathKind(METASTORE, READS_BESIDE, writes=True, stops=True): 2,
    **{DeathKind(reader, reader): 6 for reader in READERS},
    **{DeathKind(METASTORE, reader): 2 for reader in READERS},
    **{DeathKind(reader, reader, stops=True): 2 for reader in READERS},
    DeathKind(METASTORE, READS_BESIDE, stops=True): 2,
}
"""Of two hundred runs."""


def planned(runs: int, seed: int, only: str) -> dict[int, DeathKind]:
    """Return the kinds of so many runs by their numbers, in their shares, in a random order.

    `only`: a pattern that the kind's name has.
    """
    every = [kind for kind, share in SHARES.items() for _ in range(share)]
    random.Random(seed).shuffle(every)  # noqa: S311 - to be repeated, not secret
    whole, rest = divmod(runs, len(every))
    drawn = enumerate(every * whole + every[:rest], start=1)
    return {number: kind for number, kind in drawn if re.search(only, kind.name)}


GONE_S: Final = 20.0
"""After so long everything that a killed harness started must be gone."""
RUN_S: Final = 900.0
POLL_S: Final = 0.2
SHORT_S: Final = 0.02
"""The shortest time between two looks."""


class RunProcess:
    """One `harness run` (or another verb) in a folder, and what belongs to it."""

    def __init__(self, folder: Path, cache: Path, *options: str, verb: str = "run") -> None:
        self.folder = folder
        self._log = folder.with_name(f"{folder.name}.log")
        self._before = self._log.stat().st_size if self._log.exists() else 0
        command = [sys.executable, "-m", "harness", verb, "--run-dir", str(folder), *options]
        with self._log.open("ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "HARNESS_CACHE": str(cache)}
            )

    def finish(self, within_s: float | None = RUN_S) -> int:
        """Wait for its end, which is made after `within_s`; return its status."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def answers(self, target: str) -> bool:
        """Return whether all that was started of a target has answered: two metastores, say."""
        with self._log.open("rb") as log:
            log.seek(self._before)
            text = log.read().decode(errors="replace")
        line = rf"^(hive-)?{re.escape(target)}\S* answers after"
        begun = sum(1 for _ in (self.folder / "engines").glob(f"{target}-*"))
        return 0 < begun <= len(re.findall(line, text, re.MULTILINE))

    def servers(self) -> Iterator[tuple[str, psutil.Process]]:
        """Yield the processes that run now below the harness, each with its target."""
        for process in self._family():
            if target := works_in(process).rpartition("-")[0]:
                yield target, process

    def processes(self, target: str) -> list[psutil.Process]:
        if target == HARNESS:
            return [psutil.Process(self.process.pid)]
        return [process for name, process in self.servers() if name == target]

    def everything(self) -> list[psutil.Process]:
        """Return what the harness started, and whatever else works in its folder."""
        processes = set(self._family())
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if Path(process.cwd()).is_relative_to(self.folder):
                    processes.add(process)
        return list(processes)

    def _family(self) -> list[psutil.Process]:
        if self.process.poll() is not None:  # its id may be another's by now
            return []
        with suppress(psutil.Error):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []


def works_in(process: psutil.Process) -> str:
    """Return the name of the folder below `engines` in which a process works."""
    with suppress(psutil.Error):
        parts = Path(process.cwd()).parts
        if "engines" in parts[:-1]:
            return parts[parts.index("engines") + 1]
    return ""


def strike(
    run: RunProcess, kind: DeathKind, wait_s: float, chance: random.Random
) -> Collection[psutil.Process] | None:
    """Send a signal to one process of a target once it was there for `wait_s`; None when too late.

    Return what the harness had started by then. What is stopped answers before: one that never does
    is waited for as long as a start may take.
    """
    _wait(run, kind.target, wait_s, answers=kind.stops)
    family = run.everything()
    with suppress(psutil.Error, IndexError):
        processes = sorted(run.processes(kind.target), key=lambda process: process.pid)
        victim = chance.choice(processes)
        if run.process.poll() is None:
            victim.send_signal(signal.SIGSTOP if kind.stops else signal.SIGKILL)
            return family
    return None


def _wait(run: RunProcess, target: str, wait_s: float, *, answers: bool) -> None:
    """Wait until a target was there for so long in all, for one may come after another's end."""
    there = 0.0
    while run.process.poll() is None and there <= wait_s:
        began = time.monotonic()
        time.sleep(min(POLL_S, max(wait_s - there, SHORT_S)))
        if run.processes(target) and (run.answers(target) or not answers):
            there += time.monotonic() - began


def outlived(run: RunProcess, family: Collection[psutil.Process]) -> bool:
    """Return whether anything that the harness started is there although it has ended."""
    deadline = time.monotonic() + GONE_S
    while there := [*filter(_runs, {*family, *run.everything()})]:
        if time.monotonic() > deadline:
            print(f"{run.folder.name}: still there: {there}", file=sys.stderr)
            return True
        time.sleep(POLL_S)
    return False


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def left(folder: Path, cache: Path, *, again: bool) -> list[Path]:
    """Return what is half made, or was of use only to a process that runs.

    `again`: the harness was started once more, which takes the homes away that a death left.
    """
    return [
        *(path for path in (folder / "engines").glob("*/*") if path.is_dir()),
        *folder.glob("*.part"),
        *folder.glob("engines/table-*"),
        *cache.glob(f"states/{MAKING}*"),
        *(table_homes.folder(Cache(cache)).glob(f"{MAKING}*") if again else ()),
    ]


FILE: Final = "deaths.jsonl"
LATE: Final = "too late"
"""The run was over before the blow fell: nothing was struck."""
WENT_ON: Final = "went on by itself"
RESUMED: Final = "resumed"
BEGUN: Final = "begun again"
DIFFERS: Final = "differs"
SURVIVED: Final = "survived"
LEFT_OVER: Final = "left over"
BROKEN: Final = "broken"
FAILED: Final = (DIFFERS, SURVIVED, LEFT_OVER, BROKEN)
COLUMNS: Final = {
    WENT_ON: "went on by itself",
    RESUMED: "resumed",
    BEGUN: "begun again",
    DIFFERS: "verdicts differ",
    SURVIVED: "process survived",
    LEFT_OVER: "something left over",
    BROKEN: "could not be finished",
    LATE: "not struck, not counted",
}
"""How an outcome begins, and what the table calls it."""


def verdicts(folder: Path) -> dict[str, str]:
    """Return the verdicts, kinds first, without what no two runs share: instants, files, times."""
    texts = {}
    for verdict in jsonl.read_all(folder / load_run.VERDICTS, Verdict):
        findings = (
            f"{finding.kind}: {', '.join(finding.columns)} by {finding.responsible}"
            f" ({len(finding.witnesses)})"
            for finding in verdict.findings
        )
        texts[verdict.case] = "; ".join([verdict.verdict, *verdict.reproduces, *findings])
    return texts


@dataclass(frozen=True, slots=True)
class Undisturbed:
    status: int
    verdicts: dict[str, str]
    seconds: float
    lives: dict[str, float]
    """How many seconds each target was there."""
    asked: dict[str, float]
    """How many seconds of these it had answered before."""

    def wait_s(self, kind: DeathKind, chance: random.Random) -> float:
        """Return how long the target is there, or answers, until the blow."""
        life = self.asked if kind.stops else {**self.lives, HARNESS: self.seconds}
        return chance.random() * life.get(kind.target, 0.0)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A folder of runs with one seed, and the undisturbed ones to compare with."""

    folder: Path
    seed: int
    known: dict[str, Undisturbed] = field(default_factory=dict)

    def outcomes(self) -> dict[int, str]:
        return {record["number"]: record["outcome"] for record in self._records()}

    def attempts(self, number: int) -> int:
        """Return how often a run was noted; again only where nothing was struck."""
        return sum(record["number"] == number for record in self._records())

    def note(self, number: int, kind: DeathKind, outcome: str, seconds: float) -> None:
        facts = {"number": number, "kind": kind.name, "outcome": outcome, "seed": self.seed}
        print(f"{number:4} {kind.name}: {outcome}, {seconds:.0f} s", flush=True)
        with (self.folder / FILE).open("a", encoding="utf-8") as log:
            log.write(json.dumps({**facts, "seconds": round(seconds)}) + "\n")

    def _records(self) -> list[dict[str, Any]]:
        path = self.folder / FILE
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [record for record in map(json.loads, lines) if record["seed"] == self.seed]

    def cache(self, name: str, kind: DeathKind) -> Path:
        """Return a cache with the engines in it: that of a run that writes, else the shared one."""
        return shared.with_engines(self.folder / (f"cache-{name}" if kind.writes else "cache"))

    def clear(self, number: int) -> None:
        """Remove what a run left here, also one of a program that was ended while it did it."""
        for name in (f"run-{number}", f"cache-{number}"):
            caches.remove(self.folder / name)


def prepare(experiment: Experiment, kinds: Iterable[DeathKind], jobs: int) -> None:
    """Write the tables and do the undisturbed runs, unless an earlier go has."""
    needed = {kind.undisturbed: kind for kind in kinds}
    records = {name: experiment.folder / f"{name}.json" for name in needed}
    lacking = [kind for name, kind in needed.items() if not records[name].exists()]
    for reader in dict.fromkeys(kind.reader for kind in lacking):
        _write_tables(experiment, DeathKind(HARNESS, reader))
    with ThreadPoolExecutor(jobs) as threads:
        for job in [threads.submit(_undisturbed, experiment, kind) for kind in lacking]:
            job.result()
    for name, record in records.items():
        known = Undisturbed(**json.loads(record.read_text(encoding="utf-8")))
        experiment.known[name] = known
        lives = ", ".join(f"{target} {life:.0f} s" for target, life in known.lives.items())
        print(f"{name}: {known.seconds:.0f} s; {lives}", flush=True)


def _write_tables(experiment: Experiment, kind: DeathKind) -> None:
    """Write the table of a reader and fetch its engine: of that nothing is to be struck."""
    folder = experiment.folder / f"written-{kind.reader}"
    shutil.rmtree(folder, ignore_errors=True)
    run = RunProcess(folder, experiment.cache("", kind), *kind.cells, verb="write")
    if run.finish(within_s=None):  # a large engine is fetched for a long time
        raise SystemExit(f"the table of {kind.reader} cannot be written, see {folder}.log")


def _undisturbed(experiment: Experiment, kind: DeathKind) -> None:
    """Do a run that nobody kills, and record it with how long everything lived."""
    folder = experiment.folder / kind.undisturbed
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    lives, asked = defaultdict[str, float](float), defaultdict[str, float](float)
    run = RunProcess(folder, experiment.cache(kind.undisturbed, kind), *kind.options)
    while run.process.poll() is None:
        looked = time.monotonic()
        time.sleep(POLL_S)
        for target in {name for name, _ in run.servers()}:
            lives[target] += time.monotonic() - looked
            asked[target] += time.monotonic() - looked if run.answers(target) else 0.0
    status, recorded = run.finish(), verdicts(folder)
    if status not in {0, 1} or not recorded:
        raise SystemExit(f"an undisturbed run failed, see {folder}.log")
    seconds = time.monotonic() - began
    result = Undisturbed(status, recorded, seconds, dict(lives), dict(asked))
    folder.with_suffix(".json").write_text(json.dumps(asdict(result)), encoding="utf-8")


TRIES: Final = 5
"""So many runs at most until one is struck."""


def until_struck(experiment: Experiment, kind: DeathKind, number: int) -> str:
    """Do runs until something was struck in one; return its outcome, or that none was."""
    # Of another go at the same number the moments are others.
    seed = f"{experiment.seed}-{number}-{experiment.attempts(number)}"
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not secret
    for _ in range(TRIES):
        experiment.clear(number)
        outcome = disturbed(experiment, kind, number, chance)
        if outcome != LATE:
            return outcome
    return LATE


def disturbed(experiment: Experiment, kind: DeathKind, number: int, chance: random.Random) -> str:
    """Do a run, strike its target, go on; return the outcome."""
    known = experiment.known[kind.undisturbed]
    cache = experiment.cache(str(number), kind)
    run = RunProcess(experiment.folder / f"run-{number}", cache, *kind.options)
    struck = strike(run, kind, known.wait_s(kind, chance), chance)
    status = run.finish()
    try:
        if struck is None:
            return LATE if verdicts(run.folder) == known.verdicts else DIFFERS
        if outlived(run, struck):
            return SURVIVED
        if _contradicts(run.folder, known):
            return DIFFERS
        if status == known.status:
            outcome = WENT_ON
        else:
            outcome = _go_on(run.folder, cache, kind, known, status)
        if outcome in FAILED:
            return outcome
        if verdicts(run.folder) != known.verdicts:
            return DIFFERS
        return LEFT_OVER if left(run.folder, cache, again=outcome != WENT_ON) else outcome
    except (UsageProblem, ValueError) as problem:
        print(f"{run.folder.name}: records that cannot be read: {problem}", file=sys.stderr)
        return BROKEN


def _contradicts(folder: Path, known: Undisturbed) -> bool:
    """Return whether a disturbed run has a verdict that is neither `unknown` nor the same."""
    recorded = [*verdicts(folder).items()]
    if (folder / load_run.INFO).exists():  # what is there may be judged before it is gone on with
        pipeline.judge_run(folder)
        recorded += verdicts(folder).items()
    others = (verdict for case, verdict in recorded if known.verdicts.get(case) != verdict)
    return any(not other.startswith("unknown") for other in others)


def _go_on(folder: Path, cache: Path, kind: DeathKind, known: Undisturbed, status: int) -> str:
    """Go on with a run that ended otherwise; begin it again where it had not begun."""
    begun = (folder / load_run.INFO).exists()
    again = RunProcess(folder, cache, *(["--resume"] if begun else kind.options))
    if again.finish() != known.status:
        return BROKEN
    if outlived(again, ()):
        return SURVIVED
    return f"{RESUMED if begun else BEGUN} after {status}"


def due(experiment: Experiment, kinds: dict[int, DeathKind]) -> dict[int, DeathKind]:
    """Return the runs that are left: those not done, and those in which nothing was struck."""
    done = experiment.outcomes()
    return {number: kind for number, kind in kinds.items() if done.get(number, LATE) == LATE}


def table(outcomes: Sequence[tuple[DeathKind, str]]) -> Iterator[str]:
    rows = {
        name: [outcome for kind, outcome in outcomes if kind.struck == name]
        for name in dict.fromkeys(kind.struck for kind in SHARES)
    }
    rows["all"] = [outcome for _, outcome in outcomes]
    counts = (
        (name, _struck(row), *(sum(text.startswith(column) for text in row) for column in COLUMNS))
        for name, row in rows.items()
        if row
    )
    head = ("what was struck", "runs", *COLUMNS.values())
    yield from shared.table(head, (tuple(map(str, row)) for row in counts))


def _struck(outcomes: Sequence[str]) -> int:
    return sum(outcome != LATE for outcome in outcomes)


def total(outcomes: Sequence[str], planned: int) -> str:
    """Return how many of the planned runs struck something, and how many of these failed."""
    failed = sum(outcome in FAILED for outcome in outcomes)
    return f"{_struck(outcomes)} of {planned} runs struck something; {failed} of these failed."


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="so many runs at once")
    parser.add_argument("--only", default="", help="of these runs only kinds whose name matches")
    parser.add_argument("--folder", type=Path, required=True, help="new, or to go on in")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    experiment = Experiment(options.folder.resolve(), options.seed)
    kinds = planned(options.runs, options.seed, options.only)
    waiting = due(experiment, kinds)
    print(
        f"seed {options.seed}, {len(waiting)} of {len(kinds)} runs, {options.jobs} at once",
        flush=True,
    )
    prepare(experiment, waiting.values(), options.jobs)

    def do(number: int) -> tuple[int, str, float]:
        began = time.monotonic()
        return number, until_struck(experiment, kinds[number], number), time.monotonic() - began

    with ThreadPoolExecutor(options.jobs) as threads:
        for job in as_completed([threads.submit(do, number) for number in waiting]):
            number, outcome, seconds = job.result()
            experiment.note(number, kinds[number], outcome, seconds)
            if outcome not in FAILED:
                experiment.clear(number)
    outcomes = {n: outcome for n, outcome in experiment.outcomes().items() if n in kinds}
    done = [(kinds[number], outcome) for number, outcome in outcomes.items()]
    print("\n".join([*table(done), "", total([*outcomes.values()], len(kinds))]))
    return int(any(outcome in FAILED for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
