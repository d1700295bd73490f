"""Kill the harness, or something it started, at a random moment; go on; compare the verdicts.

    python tools/deaths.py --runs 200 --seed 1 --jobs 2

Each run takes one engine's cells of `deaths_scenarios`. One process gets SIGKILL (or SIGSTOP, for
one that hangs) at a random moment; then `harness run --resume` must end with the verdicts of an
undisturbed run, times apart. It is checked that no process and no listening port outlives a killed
harness, that no verdict of a disturbed run is other than the undisturbed one or unknown, and that
nothing half-made is left. Prints a table: target, runs, what came of them. Ends 1 if any failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil

from harness.runtimes.cache import MAKING, Cache

SCENARIOS: Final = Path(__file__).with_name("deaths_scenarios")
PROFILE: Final = (str(SCENARIOS), "--profile", "deaths")
SHARED: Final = ("artifacts", "jre", "unpacked")
"""What of the cache all runs use; table states and answers are of this program's own."""
WRITER: Final = "spark-3.5.8-hudi-0.15.0"
READERS: Final = ("spark-3.5.8-hudi-1.0.2", "hive-3.1.3", "trino-476", "prestosql-350")
METASTORE: Final = "metastore"
HARNESS: Final = "harness"
GONE_S: Final = 20.0
"""After so long everything that a killed harness started must be gone."""
ANSWER_S: Final = 8
"""Time-out of queries where a process is stopped; otherwise the harness's own."""
RUN_S: Final = 900.0
POLL_S: Final = 0.05
FAILED: Final = ("differs", "survived", "left over", "broken")


@dataclass(frozen=True, slots=True)
class Kind:
    """What dies, while what is done."""

    target: str
    """`harness`, `metastore`, or a distribution."""
    reader: str
    writes: bool = False
    """Whether the table is written too, or its states are there already."""
    stops: bool = False
    """Whether it hangs (SIGSTOP) instead of being killed."""

    @property
    def name(self) -> str:
        """As the table says it."""
        how = "hangs" if self.stops else "killed"
        return f"{self.target} {how}, {'writing, then ' if self.writes else ''}{self.reader}"


SHARES: Final[dict[Kind, int]] = {
    **{Kind(HARNESS, reader): 10 for reader in READERS},
    Kind(HARNESS, "hive-3.1.3", writes=True): 35,
    Kind(WRITER, "hive-3.1.3", writes=True): 25,
    Kind(METASTORE, "hive-3.1.3", writes=True): 15,
    **{Kind(reader, reader): 15 for reader in READERS},
    **{Kind(METASTORE, reader): 5 for reader in READERS},
    **{Kind(reader, reader, stops=True): 3 for reader in READERS},
    Kind(METASTORE, "hive-3.1.3", stops=True): 3,
}
"""Of two hundred runs."""


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A run that nobody killed."""

    status: int
    verdicts: dict[str, str]
    seconds: float
    lives: dict[str, float]
    """How many seconds each target was there."""


@dataclass(slots=True)
class Bench:
    """Where runs are done."""

    folder: Path
    known: dict[tuple[str, bool], Undisturbed] = field(default_factory=dict)

    def cache(self, name: str) -> Path:
        """Give a cache with the engines in it; states and answers are its own."""
        cache = self.folder / name
        cache.mkdir(parents=True, exist_ok=True)
        for each in SHARED:
            with suppress(FileExistsError):
                (cache / each).symlink_to(Cache.default().root / each)
        return cache


class Run:
    """One `harness run` (or another verb) in a folder, and what belongs to it."""

    def __init__(self, folder: Path, cache: Path, *options: str, verb: str = "run") -> None:
        """Start it."""
        self.folder = folder
        self._log = folder.with_suffix(".log")
        command = [sys.executable, "-m", "harness", verb, "--run-dir", str(folder), *options]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "HARNESS_CACHE": str(cache)}
            )

    def finish(self) -> int:
        """Wait for its end; give its status."""
        try:
            return self.process.wait(RUN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def of(self, target: str) -> list[psutil.Process]:
        """Give the processes of a target that run now."""
        if target == HARNESS:
            return [psutil.Process(self.process.pid)]
        return [each for each in self.everything() if _works_in(each).startswith(f"{target}-")]

    def everything(self) -> list[psutil.Process]:
        """Give what the harness started, and whatever else works in its folder."""
        found = set(_children(self.process.pid))
        found |= {each for each in psutil.process_iter() if self._is_here(each)}
        return list(found)

    def _is_here(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return Path(process.cwd()).is_relative_to(self.folder)
        return False


def _children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def _works_in(process: psutil.Process) -> str:
    """Give the name of the folder below `engines` in which a process works."""
    with suppress(psutil.Error):
        parts = Path(process.cwd()).parts
        if "engines" in parts[:-1]:
            return parts[parts.index("engines") + 1]
    return ""


def options(kind: Kind) -> list[str]:
    """Give how a run of this kind is asked for."""
    found = [*PROFILE, "-k", kind.reader, "--fresh"]
    return [*found, "--timeout", str(ANSWER_S)] if kind.stops else found


def verdicts(folder: Path) -> dict[str, str]:
    """Give the verdicts by case, without times."""
    found: dict[str, str] = {}
    path = folder / "verdicts.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        verdict: dict[str, Any] = json.loads(line)
        del verdict["seconds"], verdict["reused"]
        found[verdict["case"]] = json.dumps(verdict, sort_keys=True)
    return found


def undisturbed(bench: Bench, kind: Kind) -> Undisturbed:
    """Do a run that nobody kills, and see how long everything lives."""
    name = f"undisturbed-{kind.reader}{'-writing' if kind.writes else ''}"
    began, lives = time.monotonic(), defaultdict[str, float](float)
    cache = bench.cache(f"cache-{name}" if kind.writes else "cache")
    run = Run(bench.folder / name, cache, *options(kind))
    while run.process.poll() is None:
        seen = time.monotonic()
        time.sleep(POLL_S)
        targets = {_works_in(each).rpartition("-")[0] for each in _children(run.process.pid)}
        for target in targets - {""}:
            lives[target] += time.monotonic() - seen
    found = verdicts(run.folder)
    if run.finish() not in {0, 1} or not found:
        raise SystemExit(f"an undisturbed run failed: {run.folder}.log")
    return Undisturbed(run.finish(), found, time.monotonic() - began, dict(lives))


def disturbed(bench: Bench, kind: Kind, number: int, seed: int) -> str:
    """Do a run, strike its target, go on; give what came of it."""
    chance = random.Random(f"{seed}-{number}")  # noqa: S311 - to be repeated, not to be secret
    known = bench.known[kind.reader, kind.writes]
    cache = bench.cache(f"cache-{number}" if kind.writes else "cache")
    run = Run(bench.folder / f"run-{number}", cache, *options(kind))
    struck = _strike(run, kind, known, chance)
    status = run.finish()
    if struck is None:
        return _judged(run, known, "too late")
    if _outlived(run, struck):
        return "survived"
    if any(known.verdicts.get(c) != v and not _unknown(v) for c, v in verdicts(run.folder).items()):
        return "differs"
    if status == known.status:
        return _judged(run, known, "went on by itself")
    again = Run(run.folder, cache, "--resume")
    if again.finish() != known.status:
        return "broken"
    outcome = _judged(again, known, f"resumed after {status}")
    return "left over" if outcome not in FAILED and _left(run.folder, cache) else outcome


def _unknown(verdict: str) -> bool:
    return bool(json.loads(verdict)["verdict"] == "unknown")


def _judged(run: Run, known: Undisturbed, outcome: str) -> str:
    return outcome if verdicts(run.folder) == known.verdicts else "differs"


@dataclass(frozen=True, slots=True)
class Struck:
    """What there was when the target was struck."""

    family: Sequence[psutil.Process]
    ports: Sequence[int]


def _strike(run: Run, kind: Kind, known: Undisturbed, chance: random.Random) -> Struck | None:
    """Kill or stop one process of the target at a random moment; None when it was too late."""
    life = known.seconds if kind.target == HARNESS else known.lives.get(kind.target, 0.0)
    while run.process.poll() is None and not run.of(kind.target):
        time.sleep(POLL_S)
    time.sleep(chance.random() * life)
    if run.process.poll() is not None:
        return None
    family = run.everything()
    struck = Struck(family, [port for each in family for port in _listening(each)])
    with suppress(psutil.Error, IndexError):
        victim = chance.choice(sorted(run.of(kind.target), key=lambda each: each.pid))
        victim.send_signal(signal.SIGSTOP if kind.stops else signal.SIGKILL)
        return struck
    return None


def _listening(process: psutil.Process) -> Iterator[int]:
    with suppress(psutil.Error):
        for each in process.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN:
                yield each.laddr.port


def _outlived(run: Run, struck: Struck) -> bool:
    """Tell whether anything that the harness started is there although it has ended."""
    deadline = time.monotonic() + GONE_S
    while time.monotonic() < deadline:
        alive = [each for each in {*struck.family, *run.everything()} if _runs(each)]
        if not alive and not any(map(_answers, struck.ports)):
            return False
        time.sleep(POLL_S)
    print(f"{run.folder.name}: alive {alive}, ports {struck.ports}", file=sys.stderr)
    return True


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _left(folder: Path, cache: Path) -> list[Path]:
    """Give what is half made, or was of use only to a process that runs."""
    below = (folder / "engines").glob("*/*")
    return [
        *(path for path in below if path.is_dir()),
        *folder.glob("*.part"),
        *folder.glob("engines/table-*"),
        *(path for path in cache.glob(f"states/{MAKING}*")),
    ]


def one(bench: Bench, kind: Kind, number: int, seed: int) -> str:
    """Do one disturbed run and clean up unless it failed."""
    began = time.monotonic()
    outcome = disturbed(bench, kind, number, seed)
    print(f"{number:4} {kind.name}: {outcome}, {time.monotonic() - began:.0f} s", flush=True)
    if outcome not in FAILED:
        for path in (bench.folder / f"run-{number}", bench.folder / f"cache-{number}"):
            shutil.rmtree(path, ignore_errors=True)
    return outcome


def planned(runs: int, seed: int, only: str) -> list[Kind]:
    """Give the kinds of so many runs, in their shares, in a random order."""
    kinds = {kind: share for kind, share in SHARES.items() if only in kind.name}
    every = [kind for kind, share in kinds.items() for _ in range(share)]
    if not every:
        raise SystemExit(f"no kind of run is named {only!r}")
    random.Random(seed).shuffle(every)  # noqa: S311 - as above
    whole, rest = divmod(runs, len(every))
    return every * whole + every[:rest]


def table(outcomes: Sequence[tuple[Kind, str]]) -> Iterator[str]:
    """Give the lines of the table."""
    yield "| target | runs | what came of it |"
    yield "| --- | --- | --- |"
    for kind in SHARES:
        found = Counter(outcome for each, outcome in outcomes if each == kind)
        if found:
            text = ", ".join(f"{count} {outcome}" for outcome, count in found.most_common())
            yield f"| {kind.name} | {found.total()} | {text} |"


def main() -> int:
    """Do the runs; give the exit status."""
    options_ = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options_.add_argument("--runs", type=int, default=200)
    options_.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options_.add_argument("--jobs", type=int, default=2, help="so many runs at once")
    options_.add_argument("--only", default="", help="kinds whose name contains this")
    options_.add_argument("--folder", type=Path, required=True, help="a new folder to work in")
    asked = options_.parse_args()
    asked.folder.mkdir(parents=True)
    bench = Bench(asked.folder.resolve())
    kinds = planned(asked.runs, asked.seed, asked.only)
    print(f"seed {asked.seed}, {len(kinds)} runs, {asked.jobs} at once", flush=True)
    if Run(bench.folder / "written", bench.cache("cache"), *PROFILE, verb="write").finish():
        raise SystemExit(f"the table cannot be written: {bench.folder}/written.log")
    for kind in dict.fromkeys(sorted(kinds, key=lambda each: each.name)):
        if (kind.reader, kind.writes) not in bench.known:
            known = bench.known[kind.reader, kind.writes] = undisturbed(bench, kind)
            lives = ", ".join(f"{name} {life:.0f} s" for name, life in known.lives.items())
            print(f"undisturbed {kind.reader}: {known.seconds:.0f} s; {lives}", flush=True)
    with ThreadPoolExecutor(asked.jobs) as threads:
        jobs = [threads.submit(one, bench, *each, asked.seed) for each in _numbered(kinds)]
        outcomes = [job.result() for job in jobs]
    print("\n".join(table(list(zip(kinds, outcomes, strict=True)))))
    return int(any(outcome in FAILED for outcome in outcomes))


def _numbered(kinds: Sequence[Kind]) -> Iterator[tuple[Kind, int]]:
    return ((kind, number) for number, kind in enumerate(kinds, start=1))


if __name__ == "__main__":
    sys.exit(main())
