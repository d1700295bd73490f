"""Measure one run of a profile: what costs how much, and what a plain script takes for the same.

    python tools/bench.py --profile quick-start --folder build/bench

The run is done on a cache that holds the engines and neither table states nor answers; then again,
with nothing changed; then for one cell of it, whose answer is kept too: what that costs is fixed,
and the rest is divided by the cells. Then all is asked afresh of the tables that are there, and
`tools/bench_plain.py` asks the same: neither of the two writes meanwhile. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `tools` and `tests`

from harness.artifacts import cache as caches
from harness.core.progress import RIGHT_OR_WRONG
from harness.core.records import Answer
from harness.run import load_run as records
from harness.runtime import metastore
from tools.deaths import works_in
from tools.shared import table, with_engines

SAMPLE_S: Final = 0.25
HARNESS: Final = "harness"


@dataclass(frozen=True, slots=True)
class Event:
    """A line of `harness run --json`, and when it came."""

    seconds: float
    """Since the start of the process."""
    cpu_s: float
    """What the harness itself, without its children, had used by then."""
    facts: Mapping[str, Any]


@dataclass(slots=True)
class ProcessUsage:
    """What the processes of one name used."""

    peak_mb: int = 0
    """MiB, of all of them at one time, of both metastores too; the most of four looks a second."""
    cpu_s: float = 0.0


@dataclass(slots=True)
class RunUsage:
    """A run that is over."""

    status: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    first_answer_s: float = 0.0
    """When the first answer that an engine gave was recorded; 0 when there was none."""
    first_verdict_s: float = 0.0
    """When the first verdicts were recorded; 0 when there were none. Answers are not judged yet."""
    peak_mb: int = 0
    """MiB, of all processes together at one time."""
    events: list[Event] = field(default_factory=list)
    used: dict[str, ProcessUsage] = field(default_factory=dict)
    """By distribution; the harness itself is one of them."""

    @property
    def first_told_s(self) -> float:
        """When progress first told verdicts on answers: right or wrong, not yet how; or NaN."""
        for event in self.events:
            if event.facts.get("judged", {}).keys() & RIGHT_OR_WRONG:
                return event.seconds
        return float("nan")


def watch(folder: Path, cache: Path, *options: str) -> RunUsage:
    """Run `harness run` in `folder` on `cache` and watch it to its end."""
    command = [sys.executable, "-m", "harness", "run", "--run-dir", str(folder), "--json", "--show"]
    environment = {**os.environ, "HARNESS_CACHE": str(cache)}
    found, began = RunUsage(), time.monotonic()
    with folder.with_suffix(".log").open("wb") as log:
        child = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=log, env=environment, text=True
        )
    sampler = _Sampler(child.pid, folder, began)
    sampler.start()
    for line in child.stdout or ():
        facts = json.loads(line)
        found.events.append(Event(time.monotonic() - began, _cpu(child.pid), facts))
    # Ended but not reaped: the kernel still tells what it used.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found.cpu_s, found.seconds = _cpu(child.pid), time.monotonic() - began
    sampler.over.set()
    sampler.join()
    found.status, found.first_answer_s, found.used = child.wait(), sampler.first_s, sampler.used()
    found.first_verdict_s = sampler.judged_s
    found.peak_mb = sampler.peak_mb
    return found


def answered(folder: Path) -> bool:
    """Return whether a run has recorded what an engine answered just now.

    Where there was nothing to ask that is recorded too, before any engine is started.
    """
    return any(answer.sql and not answer.reused for answer in records.answers(folder).values())


def judged(folder: Path) -> bool:
    """Return whether a run has recorded verdicts."""
    path = folder / records.VERDICTS
    return path.is_file() and path.stat().st_size > 0


class _Sampler(threading.Thread):
    """Looks at the harness and all that it started, again and again."""

    def __init__(self, pid: int, folder: Path, began: float) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.first_s, self.judged_s, self.peak_mb = 0.0, 0.0, 0
        self._pid, self._folder, self._began = pid, folder, began
        self._cpu: dict[tuple[str, int], float] = {}
        self._peaks: dict[str, int] = defaultdict(int)

    def run(self) -> None:
        while not self.over.wait(SAMPLE_S):
            self.note_records()
            with suppress(psutil.Error):
                self._look()
        self.note_records()  # the last ones may have come after the last look

    def note_records(self) -> None:
        """Note when the first answer and the first verdicts were there."""
        seconds = time.monotonic() - self._began
        if not self.first_s and answered(self._folder):
            self.first_s = seconds
        if not self.judged_s and judged(self._folder):
            self.judged_s = seconds

    def _look(self) -> None:
        harness, now = psutil.Process(self._pid), dict[str, int]()
        self._note(HARNESS, harness, now)
        for child in harness.children(recursive=True):
            with suppress(psutil.Error):
                if name := works_in(child).rpartition("-")[0]:
                    self._note(name, child, now)
        self.peak_mb = max(self.peak_mb, sum(now.values()))
        for name, mb in now.items():
            self._peaks[name] = max(self._peaks[name], mb)

    def _note(self, name: str, process: psutil.Process, now: dict[str, int]) -> None:
        times = process.cpu_times()
        self._cpu[name, process.pid] = times.user + times.system
        # What is shared counts once: a JVM that starts a program is there twice for a moment.
        now[name] = now.get(name, 0) + process.memory_full_info().pss // (1 << 20)

    def used(self) -> dict[str, ProcessUsage]:
        """Return what the processes of each name used."""
        found: dict[str, ProcessUsage] = defaultdict(ProcessUsage)
        for name, mb in self._peaks.items():
            found[name].peak_mb = mb
        for (name, _), cpu_s in self._cpu.items():
            found[name].cpu_s += cpu_s
        return dict(found)


def _cpu(pid: int) -> float:
    with suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def between(events: Sequence[Event], begins: str, ends: str) -> tuple[Event, Event] | None:
    """Return the first event of a task whose name begins so, and its last of the kind `ends`."""
    of_task = [event for event in events if str(event.facts.get("task", "")).startswith(begins)]
    over = [event_ for event_ in of_task if event_.facts["event"] == ends]
    return (of_task[0], over[-1]) if over else None


FOLDERS: Final = {metastore.DISTRIBUTION: "metastore"}
"""What a server's folder is called where it is not called as its distribution."""
ASK: Final = "ask cells"
ANSWERS: Final = re.compile(r"(?P<name>\S+) answers after (?P<seconds>[0-9.]+) s")


@dataclass(frozen=True, slots=True)
class Measured:
    """What was run, one after another."""

    first: RunUsage
    again: RunUsage
    one: RunUsage
    asked: RunUsage
    """All questions afresh; the tables are there."""
    plain: Mapping[str, Any]
    run: records.Run
    load: float
    """How many processes wanted a processor while the run was done, on average of its end."""


def measure(folder: Path, profile: str) -> Measured:
    """Do the runs and the plain script in a new folder."""
    cache = folder / "cache"
    cache.mkdir(parents=True)  # a folder that is not new would measure what is kept
    with_engines(cache)
    first = watch(folder / "run", cache, "--profile", profile)
    load = os.getloadavg()[0]
    again = watch(folder / "again", cache, "--profile", profile)
    run = records.load(folder / "run")
    case = folder / "case.txt"
    case.write_text(f"{run.info.cells[-1].case}\n", encoding="utf-8")
    one = watch(folder / "one", cache, "--profile", profile, "--cases", str(case))
    _forget_starts(cache)
    asked = watch(folder / "asked", cache, "--profile", profile, "--fresh")
    _forget_starts(cache)
    return Measured(first, again, one, asked, _plain(folder, cache), run, load)


def _forget_starts(cache: Path) -> None:
    """Let the next start be the first: a second one makes an archive of classes for later ones."""
    for seen in (cache / "archives").glob("*.seen"):
        seen.unlink()


def _plain(folder: Path, cache: Path) -> Mapping[str, Any]:
    command = [sys.executable, str(Path(__file__).with_name("bench_plain.py"))]
    environment = {**os.environ, "HARNESS_CACHE": str(cache)}
    done = subprocess.run(
        [*command, str(folder / "run"), str(folder / "plain")],
        env=environment, stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    result: Mapping[str, Any] = json.loads(done.stdout)
    return result


def summary(measured: Measured) -> Iterator[tuple[str, str]]:
    """Yield the figures of the whole."""
    first, cells = measured.first, len(measured.run.info.cells)
    yield "cells", str(cells)
    statuses = (first.status, measured.again.status, measured.asked.status)
    yield "status of the run, of the same again, asked afresh", ", ".join(map(str, statuses))
    yield "the whole, s", f"{first.seconds:.0f}"
    yield "cells a minute", f"{cells * 60 / first.seconds:.0f}"
    yield "first answer recorded after, s", f"{first.first_answer_s:.0f}"
    yield "first verdicts told by progress (right or wrong) after, s", f"{first.first_told_s:.0f}"
    yield "first verdicts recorded (with what is wrong) after, s", f"{first.first_verdict_s:.0f}"
    yield "the same again, nothing changed, s", f"{measured.again.seconds:.1f}"
    fixed = measured.one.cpu_s
    yield "harness CPU, fixed (one kept cell), s", f"{fixed:.2f}"
    yield "harness CPU a cell beside that, ms", f"{(first.cpu_s - fixed) * 1000 / cells:.2f}"
    yield (
        "the same again: harness CPU a cell, ms",
        (f"{(measured.again.cpu_s - fixed) * 1000 / cells:.2f}"),
    )
    reading = asking_s(measured.asked)
    yield "asked afresh, tables there, with all start-ups, s", f"{reading:.0f}"
    yield "plain script for the same questions, s", f"{measured.plain['seconds']:.0f}"
    yield "times the plain script", f"{measured.plain['seconds'] / reading:.2f}"
    yield "memory at most, all processes together, MB", str(first.peak_mb)
    yield (
        "disk: states and answers, run, MB",
        (
            f"{_size(cache_of(measured) / 'states') + _size(cache_of(measured) / 'answers'):.0f}, "
            f"{_size(measured.run.folder):.0f}"
        ),
    )
    yield (
        "processes that wanted one of the processors at its end",
        (f"{measured.load:.1f} of {psutil.cpu_count()}"),
    )


def cache_of(measured: Measured) -> Path:
    """Return the cache of the runs."""
    return measured.run.folder.parent / "cache"


def phases(watched: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each phase with its seconds and the harness's CPU seconds."""
    before, before_cpu = 0.0, 0.0
    for name, end in _ends(watched):
        yield name, end.seconds - before, end.cpu_s - before_cpu
        before, before_cpu = end.seconds, end.cpu_s
    yield "judge and report", watched.seconds - before, watched.cpu_s - before_cpu


def _ends(watched: RunUsage) -> Iterator[tuple[str, Event]]:
    """Yield each phase but the last with its end; readers are asked from when writing begins."""
    wrote, asked = (between(watched.events, task, "done") for task in ("write tables", ASK))
    if wrote:
        yield "up to write", wrote[0]
        yield "write, ask meanwhile", wrote[1]
    elif asked:
        yield "up to ask", asked[0]
    if asked:
        yield "ask the rest" if wrote else "ask", asked[1]


def asking_s(watched: RunUsage) -> float:
    """Return the seconds from when the first server, the metastore, is started; NaN if none is."""
    begun = min((at - took for _, at, took in _started(watched)), default=float("nan"))
    over = between(watched.events, ASK, "done")
    return over[1].seconds - begun if over else float("nan")


def starts(watched: RunUsage) -> Mapping[str, list[float]]:
    """Return how long each server took until it answered, by the names of their folders."""
    by_name: dict[str, list[float]] = {}
    for name, _, took in _started(watched):
        by_name.setdefault(FOLDERS.get(name, name), []).append(took)
    return by_name


def _started(watched: RunUsage) -> Iterator[tuple[str, float, float]]:
    """Yield each server, when it answered, and how long that took."""
    for event in watched.events:
        if match := ANSWERS.fullmatch(str(event.facts.get("text", ""))):
            yield match["name"], event.seconds, float(match["seconds"])


def queries(run: records.Run) -> Mapping[str, list[Answer]]:
    """Return the answers of each distribution."""
    by: dict[str, list[Answer]] = {}
    for cell in run.info.cells:
        with suppress(KeyError):
            by.setdefault(run.info.reader(cell.reader).distribution, []).append(
                run.answers[cell.case]
            )
    return by


def engines(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row for each server: starts, queries, memory, CPU; and what the plain script took."""
    began, answers, plain = starts(measured.first), queries(measured.run), measured.plain["by"]
    for name, used in sorted(measured.first.used.items()):
        of = answers.get(name, [])
        alone = plain.get(name, {})
        yield (
            name,
            ", ".join(f"{start:.1f}" for start in began.get(name, ())),
            str(len(of)) if of else "",
            f"{sum(answer.seconds for answer in of):.1f}" if of else "",
            f"{used.cpu_s:.1f}",
            str(used.peak_mb),
            f"{alone['start']:.1f}" if alone else "",
            f"{alone['ask']:.1f}" if alone.get("asked") else "",
        )


def _size(folder: Path) -> float:
    paths = (Path(name, file) for name, _, files in os.walk(folder) for file in files)
    return sum(path.lstat().st_blocks * 512 for path in paths) / 1e6


def report(measured: Measured) -> Iterator[str]:
    """Yield all tables."""
    yield from (*table(("", "seen"), summary(measured)), "")
    timed = ((name, f"{wall:.1f}", f"{cpu:.2f}") for name, wall, cpu in phases(measured.first))
    yield from (*table(("phase", "s", f"CPU s of the {HARNESS}"), timed), "")
    steps = [state.outcome.seconds for state in measured.run.states if not state.reused]
    yield f"Writing: {len(steps)} steps, statements of {sum(steps):.0f} s, two variants at once.\n"
    heads = ("process", "start-ups, s", "cells", "sum of queries, s", "CPU, s", "peak MB")
    plain = ("plain: start-up, s", "plain: asking, s")
    yield from (*table((*heads, *plain), engines(measured)), "")


def main() -> int:
    """Measure and print; give the exit status."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--profile", default="quick-start")
    asked.add_argument("--folder", type=Path, required=True, help="emptied before it is used")
    options = asked.parse_args()
    folder = options.folder.resolve()
    caches.remove(folder)
    folder.mkdir(parents=True)
    measured = measure(folder, options.profile)
    print("\n".join(report(measured)))
    statuses = {measured.first.status, measured.again.status, measured.asked.status}
    return 0 if statuses <= {0, 1} else 3


if __name__ == "__main__":
    sys.exit(main())
