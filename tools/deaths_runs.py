"""A run of the harness that something dies in: its processes, what strikes one, what it leaves."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from harness.artifacts import table_homes
from harness.artifacts.cache import MAKING, Cache

HARNESS: Final = "harness"
GONE_S: Final = 20.0
"""After so long everything that a killed harness started must be gone."""
RUN_S: Final = 900.0
POLL_S: Final = 0.2
SHORT_S: Final = 0.02
"""The shortest time between two looks."""
TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS: Final = "0A"
"""The state of a socket that listens, in these tables."""


class RunProcess:
    """One `harness run` (or another verb) in a folder, and what belongs to it."""

    def __init__(self, folder: Path, cache: Path, *options: str, verb: str = "run") -> None:
        """Start it."""
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
        """Wait for its end, which is made after `within_s`; give its status."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def answers(self, target: str) -> bool:
        """Return whether the harness has said of all that it started of a target that it answers.

        Of the metastore there are two, one to write by and one to read by.
        """
        with self._log.open("rb") as log:
            log.seek(self._before)
            text = log.read().decode(errors="replace")
        line = rf"^(hive-)?{re.escape(target)}\S* answers after"
        begun = sum(1 for _ in (self.folder / "engines").glob(f"{target}-*"))
        return 0 < begun <= len(re.findall(line, text, re.MULTILINE))

    def targets(self) -> set[str]:
        """Return the names of what runs now below the harness."""
        return {works_in(process).rpartition("-")[0] for process in self._family()} - {""}

    def of(self, target: str) -> list[psutil.Process]:
        """Return the processes of a target that run now."""
        if target == HARNESS:
            return [psutil.Process(self.process.pid)]
        return [
            process for process in self._family() if works_in(process).rpartition("-")[0] == target
        ]

    def everything(self) -> list[psutil.Process]:
        """Return what the harness started, and whatever else works in its folder."""
        processes = set(self._family())
        processes |= {process for process in psutil.process_iter() if self._is_here(process)}
        return list(processes)

    def _family(self) -> list[psutil.Process]:
        """Return all that the harness started; once it has ended, its id may be another's."""
        return children(self.process.pid) if self.process.poll() is None else []

    def _is_here(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return Path(process.cwd()).is_relative_to(self.folder)
        return False


def children(pid: int) -> list[psutil.Process]:
    """Return what a process started, and what that started; nothing when it is gone."""
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def works_in(process: psutil.Process) -> str:
    """Return the name of the folder below `engines` in which a process works."""
    with suppress(psutil.Error):
        parts = Path(process.cwd()).parts
        if "engines" in parts[:-1]:
            return parts[parts.index("engines") + 1]
    return ""


@dataclass(frozen=True, slots=True)
class Port:
    """A socket that listens."""

    number: int
    """The TCP port."""
    inode: int
    """The socket's own number: no other one has it as long as the machine runs."""


def listening() -> set[Port]:
    """Return all there are now, whoever holds them."""
    return {port for table in TABLES if table.exists() for port in parsed(table.read_text("ascii"))}


def parsed(table: str) -> Iterator[Port]:
    """Yield those of a table of the kernel's, below its head. Pure."""
    for line in table.splitlines()[1:]:
        _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
        if state == LISTENS:
            yield Port(int(local.rpartition(":")[2], 16), int(inode))


def ports_of(processes: Iterable[psutil.Process]) -> set[Port]:
    """Return those that one of these processes holds; of one that is gone there are none.

    A port's number alone does not tell whose it is: what one run has let go, another may take at
    once. The kernel gives every socket a number of its own (inode). Source: proc_pid_fd(5); the
    kernel's `networking/proc_net_tcp`.
    """
    inodes = {name for process in processes for name in _sockets(process.pid)}
    return {port for port in listening() if f"socket:[{port.inode}]" in inodes}


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for path in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                yield str(path.readlink())


@dataclass(frozen=True, slots=True)
class Struck:
    """What there was when the target was struck."""

    family: Collection[psutil.Process]
    ports: Collection[Port]


def strike(
    run: RunProcess, target: str, number: signal.Signals, wait_s: float, chance: random.Random
) -> Struck | None:
    """Send a signal to one process of a target once it was there for `wait_s`; None when too late.

    What is stopped answers before: one that never does is waited for as long as a start may take.
    """
    _wait(run, target, wait_s, answers=number is signal.SIGSTOP)
    family = run.everything()
    struck = Struck(family, ports_of(family))
    with suppress(psutil.Error, IndexError):
        victim = chance.choice(sorted(run.of(target), key=lambda each: each.pid))
        if run.process.poll() is None:
            victim.send_signal(number)
            return struck
    return None


def _wait(run: RunProcess, target: str, wait_s: float, *, answers: bool) -> None:
    """Wait until a target was there for so long in all, for one may come after another's end."""
    there = 0.0
    while run.process.poll() is None and there <= wait_s:
        seen = time.monotonic()
        time.sleep(min(POLL_S, max(wait_s - there, SHORT_S)))
        if run.of(target) and (run.answers(target) or not answers):
            there += time.monotonic() - seen


def outlived(run: RunProcess, struck: Struck) -> bool:
    """Return whether anything that the harness started is there although it has ended."""
    deadline = time.monotonic() + GONE_S
    while there := _there(run, struck):
        if time.monotonic() > deadline:
            print(f"{run.folder.name}: still there: {there}", file=sys.stderr)
            return True
        time.sleep(POLL_S)
    return False


def _there(run: RunProcess, struck: Struck) -> list[psutil.Process | Port]:
    """Return processes that are there, else the sockets: the kernel takes long to list these."""
    alive = [process for process in {*struck.family, *run.everything()} if _runs(process)]
    return [*alive] or [*listening().intersection(struck.ports)]


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def left(folder: Path, cache: Path, *, again: bool) -> list[Path]:
    """Return what is half made, or was of use only to a process that runs.

    `again`: the harness was started once more, which takes the homes away that a death left.
    """
    below = (folder / "engines").glob("*/*")
    return [
        *(path for path in below if path.is_dir()),
        *folder.glob("*.part"),
        *folder.glob("engines/table-*"),
        *cache.glob(f"states/{MAKING}*"),
        *(table_homes.folder(Cache(cache)).glob(f"{MAKING}*") if again else ()),
    ]
