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
from deaths_runs import works_in

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
class Used:
    """What the processes of one name used."""

    peak_mb: int = 0
    cpu_s: float = 0.0


@dataclass(slots=True)
class Watched:
    """A run that is over."""

    status: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    first_answer_s: float = 0.0
    """When the first answer was recorded; 0 when there was none."""
    events: list[Event] = field(default_factory=list)
    used: dict[str, Used] = field(default_factory=dict)
    """By distribution; the harness itself is one of them."""


def watch(folder: Path, cache: Path, *options: str) -> Watched:
    """Run `harness run` in `folder` on `cache` and watch it to its end."""
    command = [sys.executable, "-m", "harness", "run", "--run-dir", str(folder), "--json", "--show"]
    environment = {**os.environ, "HARNESS_CACHE": str(cache)}
    found, began = Watched(), time.monotonic()
    with folder.with_suffix(".log").open("wb") as log:
        child = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=log, env=environment, text=True
        )
    sampler = _Sampler(child.pid, folder / "answers.jsonl", began)
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
    return found


class _Sampler(threading.Thread):
    """Looks at the harness and all that it started, again and again."""

    def __init__(self, pid: int, answers: Path, began: float) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.first_s = 0.0
        self._pid, self._answers, self._began = pid, answers, began
        self._seen: dict[tuple[str, int], Used] = {}

    def run(self) -> None:
        while not self.over.wait(SAMPLE_S):
            if not self.first_s and self._answers.exists() and self._answers.stat().st_size:
                self.first_s = time.monotonic() - self._began
            with suppress(psutil.Error):
                self._look()

    def _look(self) -> None:
        harness = psutil.Process(self._pid)
        self._note(HARNESS, self._pid)
        for each in harness.children(recursive=True):
            with suppress(psutil.Error):
                if name := works_in(each):
                    self._note(name, each.pid)

    def _note(self, name: str, pid: int) -> None:
        used = self._seen.setdefault((name, pid), Used())
        used.peak_mb, used.cpu_s = max(used.peak_mb, _peak(pid)), max(used.cpu_s, _cpu(pid))

    def used(self) -> dict[str, Used]:
        """Give the sum of the processes of one server, and the largest server of a name."""
        servers: dict[str, Used] = defaultdict(Used)
        for (name, _), used in self._seen.items():
            servers[name].peak_mb += used.peak_mb
            servers[name].cpu_s += used.cpu_s
        found: dict[str, Used] = defaultdict(Used)
        for name, used in servers.items():
            plain = name if name == HARNESS else name.rpartition("-")[0]
            found[plain].peak_mb = max(found[plain].peak_mb, used.peak_mb)
            found[plain].cpu_s += used.cpu_s
        return dict(found)


def _cpu(pid: int) -> float:
    with suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def _peak(pid: int) -> int:
    """Give the most resident memory that the kernel saw, in MiB; nothing of one that ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    return 0


def between(events: Sequence[Event], begins: str, ends: str) -> tuple[Event, Event] | None:
    """Give the first event of a task whose name begins so, and its last of the kind `ends`."""
    of_task = [each for each in events if str(each.facts.get("task", "")).startswith(begins)]
    over = [each for each in of_task if each.facts["event"] == ends]
    return (of_task[0], over[-1]) if over else None
