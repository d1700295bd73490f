"""How a long-running phase tells a person, or a program, what it is doing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")

_WHOLE_FROM = 10
"""From so many megabytes on, tenths are not told."""


class Progress(Protocol):
    """One task at a time; `note` may be called at any time, also with no task running."""

    def start(self, task: str, total_bytes: int) -> None:
        """A task begins; any before it is over."""

    def count(self, task: str, total: int) -> None:
        """A task of so many things begins; any before it is over."""

    def advance(self, amount: int) -> None:
        """So many more bytes or things are done; negative when some must be done again."""

    def found(self, by: str, what: str) -> None:
        """One more of the counted things is done: by whom, and what came of it in a word."""

    def done(self) -> None:
        """The task that was started is over."""

    def note(self, text: str) -> None:
        """A line worth telling."""


class QuietProgress:
    """Tells nothing."""

    def start(self, task: str, total_bytes: int) -> None:
        """Nothing."""

    def count(self, task: str, total: int) -> None:
        """Nothing."""

    def advance(self, amount: int) -> None:
        """Nothing."""

    def found(self, by: str, what: str) -> None:
        """Nothing."""

    def done(self) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


@contextmanager
def started(name: str, server: AbstractContextManager[T], progress: Progress) -> Iterator[T]:
    """Enter the context of a server, and note how long it took until it answered."""
    began = time.monotonic()
    with server as running:
        progress.note(f"{name} answers after {time.monotonic() - began:.1f} s")
        yield running


def megabytes(size: int) -> str:
    """A number of bytes for people, in decimal megabytes (`821 MB`, `0.2 MB`)."""
    number = size / 1e6
    return f"{number:.0f} MB" if number >= _WHOLE_FROM else f"{number:.1f} MB"
