"""Jobs that run side by side in threads: so many at once, and no more after one has failed."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Job = Callable[[], None]


class HaltedError(Exception):
    """Another job, or the body beside which the jobs run, failed: this one is given up."""


@dataclass(slots=True)
class JobThreads:
    """Threads that run jobs in their order, the next one as soon as a thread is free."""

    at_once: int
    failed: threading.Event = field(default_factory=threading.Event)
    """Set when a job, or the body beside which they run, fails; several may share one."""

    @contextmanager
    def running(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Run all jobs beside the body of the context, and wait for them at its end.

        What a job or the body raises first is raised at once; the others end where they next call
        `check`.
        """
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        threads = min(self.at_once, len(jobs))
        for _ in range(threads):
            threading.Thread(target=self._run, args=(waiting, ended), daemon=True).start()
        try:
            yield
        except BaseException:
            self.failed.set()
            raise
        for _ in range(threads):
            problem = ended.get()
            if problem is not None:
                raise problem

    def check(self) -> None:
        """Raise HaltedError where another job, or the body beside which they run, has failed."""
        if self.failed.is_set():
            raise HaltedError

    def _run(
        self, waiting: queue.SimpleQueue[Job], ended: queue.SimpleQueue[BaseException | None]
    ) -> None:
        try:
            while not self.failed.is_set():
                waiting.get_nowait()()
        except queue.Empty:
            pass
        except BaseException as problem:  # noqa: BLE001 - the thread that waits raises it
            ended.put(problem)  # before others halt, so that it is the first
            self.failed.set()
            return
        ended.put(None)


T = TypeVar("T")


@dataclass(slots=True)
class ClosableQueue(Generic[T]):
    """A queue whose consumer takes all that is there, and learns when no more will come."""

    _items: list[T] = field(default_factory=list)
    _closed: bool = False
    _announced: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def put_all(self, items: Iterable[T]) -> None:
        with self._changed:
            self._items.extend(items)
            self._changed.notify_all()

    def close(self) -> None:
        """Declare that no more items come; calling it twice does no harm."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def announce(self) -> None:
        """Declare that items will come."""
        with self._changed:
            self._announced = True
            self._changed.notify_all()

    def expects_some(self) -> bool:
        """Wait until it is known whether items come, and return whether they do."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed or self._announced)
            return bool(self._items) or not self._closed

    def take_all(self) -> list[T]:
        """Wait until there are items, and return all of them; none once the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed)
            taken, self._items = self._items, []
            return taken
