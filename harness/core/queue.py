"""A queue between threads that can be closed."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class ClosableQueue(Generic[T]):
    """A queue whose consumer takes all that is there, and learns when no more will come."""

    _items: list[T] = field(default_factory=list)
    _closed: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def put_all(self, items: Iterable[T]) -> None:
        """Add items."""
        with self._changed:
            self._items.extend(items)
            self._changed.notify_all()

    def close(self) -> None:
        """Declare that no more items come; calling it twice does no harm."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take_all(self) -> list[T]:
        """Wait until there are items, and return all of them; none once the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed)
            taken, self._items = self._items, []
            return taken
