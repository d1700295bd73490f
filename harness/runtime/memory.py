"""How much memory a new process may have: what the machine has free, or a container is left."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem

MACHINE: Final = "free on this machine"
PROCESS_GROUP: Final = Path("/proc/self/cgroup")
GROUPS: Final = Path("/sys/fs/cgroup")
_MIB: Final = 20


@dataclass(frozen=True, slots=True)
class Free:
    """The memory there is for one more process, and who says so."""

    mb: int
    where: str
    """`free on this machine`, or the control group that allows no more."""


def free(process_group: Path = PROCESS_GROUP, groups: Path = GROUPS) -> Free:
    """Return the least of what the machine has free and what each control group above allows.

    Source: the kernel's documentation of control groups, versions 2 and 1.
    """
    machine = Free(psutil.virtual_memory().available >> _MIB, MACHINE)
    return min((machine, *_left(process_group, groups)), key=lambda limit: limit.mb)


def check(distribution: Distribution) -> None:
    """Raise EnvironmentProblem unless a distribution's server fits, before it is started."""
    there = free()
    if there.mb < distribution.memory_mb:
        raise EnvironmentProblem(
            f"{distribution.name} is not started: it takes {distribution.memory_mb} MB of memory, "
            f"and {there.mb} MB are {there.where}; end other programs or allow more, then go on "
            "with: harness run --resume"
        )


class MemoryBudget:
    """The memory of servers that run at the same time; a server waits until it fits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: list[int] = []

    @contextmanager
    def wait_for(self, distribution: Distribution) -> Iterator[None]:
        """Reserve the memory of a server, once it is free; as `check` if nothing else runs."""
        needed = distribution.memory_mb
        with ExitStack() as stack:
            with self._changed:
                self._changed.wait_for(lambda: not self._running or self._fits(needed))
                check(distribution)
                stack.enter_context(self.reserve(needed))
            yield

    @contextmanager
    def reserve(self, mb: int) -> Iterator[None]:
        with self._changed:
            self._running.append(mb)
        try:
            yield
        finally:
            with self._changed:
                self._running.remove(mb)
                self._changed.notify_all()

    def _fits(self, mb: int) -> bool:
        # What the others hold by now counts twice: nobody knows what they will still take.
        return free().mb >= mb + sum(self._running)


def _left(process_group: Path, groups: Path) -> Iterator[Free]:
    for folder in _folders(process_group, groups):
        most = _number(folder, "memory.max", "memory.limit_in_bytes")
        used = _number(folder, "memory.current", "memory.usage_in_bytes")
        if most is not None and used is not None:
            # Pages of files that nobody has touched for long go when memory is asked for.
            lines = _text(folder / "memory.stat").splitlines()
            words = dict(line.split(" ", 1) for line in lines if " " in line)
            spare = int(words.get("total_inactive_file", words.get("inactive_file", "0")))
            left = max(0, most - max(0, used - spare)) >> _MIB
            yield Free(left, f"left of the {most >> _MIB} MB that {folder} allows")


def _folders(process_group: Path, groups: Path) -> Iterator[Path]:
    for line in _text(process_group).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in {"", "memory"}:
            root = groups / controllers
            inner = root / path.strip("/")
            # In a container the path may be the host's, and only the root is there.
            yield from (root, *(f for f in (inner, *inner.parents) if root in f.parents))


def _number(folder: Path, *names: str) -> int | None:
    result = (_text(folder / name).strip() for name in names)
    return next((int(text) for text in result if text.isdecimal()), None)  # `max` is no limit


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
