"""How a long-running phase tells a person, or a program, what it is doing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

T = TypeVar("T")

RIGHT_OR_WRONG: Final = frozenset({"correct", "wrong"})
"""The kinds of verdicts on answers that were held against the truth."""
_WHOLE_FROM = 10
"""From so many megabytes on, tenths are not told."""


def _nobody(*_: object) -> None:
    """Tell nobody."""


@dataclass(slots=True, eq=False)
class Count:
    """How far a task of so many things has come; several may run at once.

    Used as a context: at its end the task is over, or given up where something is raised.
    For several threads.
    """

    task: str
    total: int
    moved: Callable[[Count, int], None] = _nobody
    """Told each time, with the number that was done before."""
    ended: Callable[[Count], None] = _nobody
    """Told at the end."""
    made: int = 0
    by: str = ""
    """Who made the last."""
    outcomes: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    """The verdicts on what came so far, by their kinds."""
    given_up: bool = False
    """Whether it ended before all was done."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held by who tells of several counts."""

    @property
    def left(self) -> int:
        """So many are not done yet."""
        return self.total - self.made

    def advance(self, amount: int = 1) -> None:
        """So many more are done; negative when some must be done again."""
        with self.lock:
            self._move(amount)

    def found(self, by: str, what: str, amount: int = 1) -> None:
        """So many more are done: by whom (nobody where it is empty), and what came of them."""
        with self.lock:
            self.by = by or self.by
            self.outcomes[what] += amount
            self._move(amount)

    def judge(self, kinds: Iterable[str]) -> None:
        """So many more are judged, of these kinds."""
        with self.lock:
            self.judged.update(kinds)
            self._move(0)

    def _move(self, amount: int) -> None:
        before, self.made = self.made, self.made + amount
        self.moved(self, before)

    def end(self) -> None:
        """Tell that the task is over."""
        with self.lock:
            self.ended(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, at: TracebackType | None
    ) -> None:
        self.given_up = kind is not None
        self.end()


class Progress(Protocol):
    """One task of bytes at a time, and counts beside it; `note` may be called at any time."""

    def start(self, task: str, total_bytes: int) -> None:
        """A task of bytes begins; any before it is over."""

    def advance(self, amount: int) -> None:
        """So many more bytes are done; negative when some must be done again."""

    def done(self) -> None:
        """The task of bytes is over."""

    def count(self, task: str, total: int) -> Count:
        """A task of so many things begins."""

    def note(self, text: str) -> None:
        """A line worth telling."""


class QuietProgress:
    """Tells nothing."""

    def start(self, task: str, total_bytes: int) -> None:
        """Nothing."""

    def advance(self, amount: int) -> None:
        """Nothing."""

    def done(self) -> None:
        """Nothing."""

    def count(self, task: str, total: int) -> Count:
        """Return a count that tells nobody."""
        return Count(task, total)

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


def state(count: Count) -> str:
    """Return how far a count has come.

    >>> found, judged = Counter(answered=7, refused=1), Counter(correct=4, wrong=3, refused=1)
    >>> state(Count("ask cells", 2000, made=8, by="a-1", outcomes=found, judged=judged))
    'ask cells: 8 of 2,000, 1,992 left (a-1): 7 answered, 1 refused; 3 wrong'
    """
    by = f" ({count.by})" if count.by else ""
    return f"{count.task}: {count.made:,} of {count.total:,}, {count.left:,} left{by}{came(count)}"


def came(count: Count) -> str:
    """Return what came of the things counted so far, to stand behind something."""
    outcomes = ", ".join(f"{number:,} {what}" for what, number in count.outcomes.items())
    return f": {outcomes}{_wrong(count.judged)}" if outcomes else ""


def _wrong(judged: Counter[str]) -> str:
    """Return how many answers are wrong, as text; empty until one was held against the truth."""
    return f"; {judged['wrong']:,} wrong" if judged.keys() & RIGHT_OR_WRONG else ""
