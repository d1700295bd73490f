"""How a long-running phase tells a person, or a program, what it is doing."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Literal, Self, TypeVar

T = TypeVar("T")

RIGHT_OR_WRONG: Final = frozenset({"correct", "wrong"})
"""The kinds of verdicts on answers that were compared with the truth."""
LOGGER: Final = logging.getLogger("harness.progress")
"""Takes what is told to people: notes, and the beginning and end of each task."""
_WHOLE_FROM: Final = 10


class Progress:
    """One task of bytes at a time, counts beside it, and notes; this one shows nothing.

    A display overrides `begun`, `moved` and `ended`, called under the lock, and `note`.
    """

    _bytes: Count | None = None

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def start(self, task: str, total_bytes: int) -> None:
        """Begin a task of bytes; any before it is given up."""
        if self._bytes is not None:
            self._bytes.given_up = True
            self.done()
        self._bytes = self._begin(Count(task, total_bytes, self, "bytes"))

    def advance(self, amount: int) -> None:
        """Count so many more bytes; a negative number where some must be fetched again."""
        if self._bytes is not None:
            self._bytes.advance(amount)

    def done(self) -> None:
        if self._bytes is not None:
            self._bytes.end()
            self._bytes = None

    def count(self, task: str, total: int) -> Count:
        return self._begin(Count(task, total, self))

    def _begin(self, count: Count) -> Count:
        LOGGER.info("%s: begun, %s %s", count.task, f"{count.total:,}", count.unit)
        with self.lock:
            self.begun(count)
        return count

    def note(self, text: str) -> None:
        LOGGER.info("%s", text)

    def begun(self, count: Count) -> None:
        """Show that a task begins."""

    def moved(self, count: Count, before: int) -> None:
        """Show how far a task has come; `before`: the number that was done until now."""

    def ended(self, count: Count) -> None:
        """Show that a task is over."""


@dataclass(slots=True, eq=False)
class Count:
    """How far a task of so many things, or bytes, has come; several may run at once.

    As a context manager it ends the task, or gives it up where something is raised.
    For several threads.
    """

    task: str
    total: int
    display: Progress = field(default_factory=Progress)
    unit: Literal["things", "bytes"] = "things"
    made: int = 0
    by: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    given_up: bool = False

    @property
    def left(self) -> int:
        return self.total - self.made

    @property
    def state(self) -> str:
        """How far it has come, and with what results.

        >>> found, judged = Counter(answered=7, refused=1), Counter(correct=4, wrong=3, refused=1)
        >>> Count("ask queries", 2000, made=8, by="a-1", outcomes=found, judged=judged).state
        'ask queries: 8 of 2,000, 1,992 left (a-1): 7 answered, 1 refused; 3 wrong in all'
        """
        by = f" ({self.by})" if self.by else ""
        return f"{self.task}: {self.made:,} of {self.total:,}, {self.left:,} left{by}{self.results}"

    @property
    def results(self) -> str:
        """What came of the things so far; nothing is said of wrong ones before any is compared."""
        outcomes = ", ".join(f"{number:,} {what}" for what, number in self.outcomes.items())
        compared = self.judged.keys() & RIGHT_OR_WRONG
        wrong = f"; {self.judged['wrong']:,} wrong in all" if compared else ""
        return f": {outcomes}{wrong}" if outcomes else ""

    def advance(self, amount: int = 1) -> None:
        with self.display.lock:
            self._move(amount)

    def count_result(self, by: str, what: str, amount: int = 1) -> None:
        with self.display.lock:
            self.by = by or self.by
            self.outcomes[what] += amount
            self._move(amount)

    def judge(self, kinds: Iterable[str]) -> None:
        with self.display.lock:
            self.judged.update(kinds)
            self._move(0)

    def _move(self, amount: int) -> None:
        before, self.made = self.made, self.made + amount
        self.display.moved(self, before)

    def end(self) -> None:
        LOGGER.info("%s: %s%s", self.task, "given up" if self.given_up else "done", self.results)
        with self.display.lock:
            self.display.ended(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, at: TracebackType | None
    ) -> None:
        self.given_up = kind is not None
        self.end()


@contextmanager
def started(name: str, server: AbstractContextManager[T], progress: Progress) -> Iterator[T]:
    """Enter the context of a server; note how long it took until it answered, log its end."""
    began = time.monotonic()
    with server as running:
        progress.note(f"{name} answers after {time.monotonic() - began:.1f} s")
        try:
            yield running
        finally:
            LOGGER.info("%s is stopped after %.1f s", name, time.monotonic() - began)


def megabytes(size: int) -> str:
    """Return a number of bytes for people, in decimal megabytes.

    >>> megabytes(0), megabytes(120_286), megabytes(9_940_000), megabytes(10**7)
    ('0.0 MB', '0.1 MB', '9.9 MB', '10 MB')
    """
    number = size / 1e6
    return f"{number:.0f} MB" if number >= _WHOLE_FROM else f"{number:.1f} MB"
