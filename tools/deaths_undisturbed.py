"""Where the runs of `deaths.py` are done, and what is known of them: runs that nobody kills."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from harness.artifacts import cache as caches
from tools.deaths_kinds import DeathKind
from tools.deaths_outcomes import OutcomeLog, verdicts
from tools.deaths_runs import HARNESS, POLL_S, RunProcess
from tools.shared_engines import with_engines


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A run that nobody killed."""

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
    """A folder of runs, what came of them, and the undisturbed ones to compare with."""

    folder: Path
    log: OutcomeLog
    known: dict[tuple[str, bool], Undisturbed] = field(default_factory=dict)

    def cache(self, name: str) -> Path:
        """Return a cache with the engines in it; states and answers are its own."""
        return with_engines(self.folder / name)

    def clear(self, number: int) -> None:
        """Remove what a run left here, also one of a program that was ended while it did it."""
        for name in (f"run-{number}", f"cache-{number}"):
            caches.remove(self.folder / name)


def prepare(experiment: Experiment, kinds: Sequence[DeathKind], jobs: int) -> None:
    """Write the tables and do the undisturbed runs, unless an earlier go has."""
    needed = {(kind.reader, kind.writes): kind for kind in kinds}
    lacking = [kind for kind in needed.values() if not _record(experiment, kind).exists()]
    for reader in dict.fromkeys(kind.reader for kind in lacking):
        _written(experiment, reader)
    with ThreadPoolExecutor(jobs) as threads:
        done = threads.map(lambda kind: undisturbed(experiment, kind), needed.values())
        for at, known in zip(needed, done, strict=True):
            experiment.known[at] = known
            lives = ", ".join(f"{name} {life:.0f} s" for name, life in known.lives.items())
            print(f"undisturbed {at[0]}: {known.seconds:.0f} s; {lives}", flush=True)


def _written(experiment: Experiment, reader: str) -> None:
    """Write the table of a reader and fetch its engine: of that nothing is to be struck."""
    folder = experiment.folder / f"written-{reader}"
    shutil.rmtree(folder, ignore_errors=True)
    run = RunProcess(
        folder, experiment.cache("cache"), *DeathKind(HARNESS, reader).cells, verb="write"
    )
    if run.finish(within_s=None):  # a large engine is fetched for a long time
        raise SystemExit(f"the table of {reader} cannot be written, see {run.folder}.log")


def undisturbed(experiment: Experiment, kind: DeathKind) -> Undisturbed:
    """Do a run that nobody kills, and see how long everything lives; once in a folder."""
    record = _record(experiment, kind)
    if not record.exists():
        cache = experiment.cache(f"cache-{record.stem}" if kind.writes else "cache")
        folder = record.with_suffix("")
        shutil.rmtree(folder, ignore_errors=True)
        record.write_text(json.dumps(asdict(_watched(folder, cache, kind))))
    return Undisturbed(**json.loads(record.read_text(encoding="utf-8")))


def _record(experiment: Experiment, kind: DeathKind) -> Path:
    return experiment.folder / f"undisturbed-{kind.reader}{'-writing' if kind.writes else ''}.json"


def _watched(folder: Path, cache: Path, kind: DeathKind) -> Undisturbed:
    began = time.monotonic()
    lives, asked = defaultdict[str, float](float), defaultdict[str, float](float)
    run = RunProcess(folder, cache, *kind.options)
    while run.process.poll() is None:
        seen = time.monotonic()
        time.sleep(POLL_S)
        for target in run.targets():
            lives[target] += time.monotonic() - seen
            asked[target] += time.monotonic() - seen if run.answers(target) else 0.0
    status, recorded = run.finish(), verdicts(run.folder)
    if status not in {0, 1} or not recorded:
        raise SystemExit(f"an undisturbed run failed, see {run.folder}.log")
    return Undisturbed(status, recorded, time.monotonic() - began, dict(lives), dict(asked))
