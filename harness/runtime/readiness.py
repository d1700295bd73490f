"""Waiting until a process that was started is ready."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from harness.runtime.process import PortTakenProblem, ProcessProblem

POLL_S: Final = 0.1
_LOOKED_AT: Final = 2000
_SHOWN: Final = 40
"""So many lines of the log of a process that ended are searched for its reason, and shown."""
_PORT_TAKEN: Final = ("Address already in use", "java.net.BindException", "Failed to bind")

_CONFIGURATION: Final = re.compile(r"Error: (Configuration property .+)")
"""What servers of the Trino family end their log with where they do not take a property."""

T = TypeVar("T")


class EndedProblem(ProcessProblem):
    """A process ended before it was ready; another start may well succeed."""


class StartingProcess(Protocol):
    """What `wait_until` looks at while it waits."""

    def alive(self) -> bool:
        """Return whether it still runs."""

    def log_tail(self, lines: int = _SHOWN) -> str:
        """Return the last lines of its log."""


def wait_until(
    check: Callable[[], T],
    process: StartingProcess,
    *,
    timeout_s: float,
    what: str,
    not_yet: tuple[type[Exception], ...],
) -> T:
    """Call `check` until it succeeds, and give what it gave.

    `check` is a real query: an open port or a line in a log says little. It raises one of `not_yet`
    while the process is not ready. `what` is named to people.

    Raises:
        PortTakenProblem: the process ended and its log says that its port was in use.
        EndedProblem: the process ended; with the end of its log, and the causes above it.
        ProcessProblem: `timeout_s` passed; with the end of its log.

    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return check()
        except not_yet as problem:
            reason = str(problem)
        if not process.alive():
            raise ended(what, process)
        if time.monotonic() > deadline:
            late = f"{what} did not get ready within {timeout_s:.0f} s ({reason})"
            raise ProcessProblem(late, process.log_tail())
        time.sleep(POLL_S)


def ended(what: str, process: StartingProcess) -> ProcessProblem:
    """Return the problem that a process is which ended before it was ready."""
    log = process.log_tail(_LOOKED_AT)
    if result := dict.fromkeys(_CONFIGURATION.findall(log)):
        return ProcessProblem(f"{what} does not take its configuration: {' '.join(result)}")
    kind = PortTakenProblem if any(sign in log for sign in _PORT_TAKEN) else EndedProblem
    return kind(f"{what} ended before it was ready", process.excerpt(log, _SHOWN))
