"""Run the harness and watch it: what it tells, and what it and its processes use meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil

from harness.core.progress import RIGHT_OR_WRONG
from harness.run import load_run as records
from tools.deaths_runs import works_in

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
