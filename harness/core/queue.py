"""Things that one thread gives and another one takes, as they come, until there are no more."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Handover(Generic[T]):
    """What was given and not taken yet."""

    _there: list[T] = field(default_factory=list)
    _over: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def give(self, things: Iterable[T]) -> None:
        """Add some."""
        with self._changed:
            self._there.extend(things)
            self._changed.notify_all()

    def close(self) -> None:
        """Say that no more come; once more does no harm."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def take(self) -> list[T]:
        """Wait until some are there and take all of these; none when no more come."""
        with self._changed:
            self._changed.wait_for(lambda: self._there or self._over)
            taken, self._there = self._there, []
            return taken
