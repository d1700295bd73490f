"""Ports on the loopback interface for servers that must be told theirs before they start."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final, TypeVar

from harness.runtime.process import ProcessProblem

LOOPBACK: Final = "127.0.0.1"
ATTEMPTS: Final = 3

Started = TypeVar("Started")


class PortTakenProblem(ProcessProblem):
    """A server ended because somebody else took its port between the choice and the start."""


def free_port() -> int:
    """Return a TCP port that nobody listens on at this moment.

    Nothing keeps it free: start servers through `on_free_port`, which chooses again.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as chosen:
        chosen.bind((LOOPBACK, 0))
        port: int = chosen.getsockname()[1]
        return port


@contextmanager
def on_free_port(start: Callable[[int], AbstractContextManager[Started]]) -> Iterator[Started]:
    """Run what `start(port)` gives on a free port, on another one if the first was taken.

    Raises PortTakenProblem: it was taken every time.
    """
    with ExitStack() as stack:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                started = stack.enter_context(start(free_port()))
                break
            except PortTakenProblem:
                if attempt == ATTEMPTS:
                    raise
        yield started
