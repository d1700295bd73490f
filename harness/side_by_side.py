"""Jobs done side by side in threads: so many at once, and no more after one has failed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Job = Callable[[], None]


class HaltedError(Exception):
    """Another job failed, so this one is given up."""


@dataclass(slots=True)
class Lanes:
    """Does jobs in their order, the next one as soon as a lane is free."""

    at_once: int
    _failed: threading.Event = field(default_factory=threading.Event)

    def do(self, jobs: Sequence[Job]) -> None:
        """Do all of them; raise at once what the first that fails raises, without waiting.

        The others end where they next call `check`.
        """
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        lanes = min(self.at_once, len(jobs))
        for _ in range(lanes):
            threading.Thread(target=self._lane, args=(waiting, ended), daemon=True).start()
        for _ in range(lanes):
            problem = ended.get()
            if problem is not None:
                raise problem

    def check(self) -> None:
        """End the job that calls this when another has failed.

        Raises:
            HaltedError: one has.

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
