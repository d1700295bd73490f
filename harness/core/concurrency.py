"""Jobs done side by side in threads: so many at once, and no more after one has failed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Job = Callable[[], None]


class HaltedError(Exception):
    """Another job, or what they are done beside, failed: this one is given up."""


@dataclass(slots=True)
class Lanes:
    """Does jobs in their order, the next one as soon as a lane is free."""

    at_once: int
    _failed: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def doing(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Do all of them beside the body of the context, and wait for them at its end.

        What the first that fails raises is raised there at once, without waiting for the others;
        what the body raises, too. The others end where they next call `check`.
        """
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        lanes = min(self.at_once, len(jobs))
        for _ in range(lanes):
            threading.Thread(target=self._lane, args=(waiting, ended), daemon=True).start()
        try:
            yield
        except BaseException:
            self._failed.set()
            raise
        for _ in range(lanes):
            problem = ended.get()
            if problem is not None:
                raise problem

    def check(self) -> None:
        """End the job that calls this when another, or what they are done beside, has failed.

        Raises:
            HaltedError: it has.

        """
        if self._failed.is_set():
            raise HaltedError

    def _lane(
        self, waiting: queue.SimpleQueue[Job], ended: queue.SimpleQueue[BaseException | None]
    ) -> None:
        try:
            while not self._failed.is_set():
                waiting.get_nowait()()
        except queue.Empty:
            ended.put(None)
        except BaseException as problem:  # noqa: BLE001 - the thread that waits raises it
            self._failed.set()
            ended.put(problem)
        else:
            ended.put(None)
