"""The metastore that all readers share, with every state registered in it; replaced when it dies.

What an engine says while its metastore is gone says nothing of the query, so the readers are asked
only while it answers. Engines that are asked side by side find out about its end one by one: the
first gets a new one, and to the others it is theirs that counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Self

from harness.core.errors import EnvironmentProblem
from harness.runtime import metastore_client
from harness.runtime.metastore import Metastore
from harness.runtime.metastore_client import CatalogGoneProblem, CatalogRefusedError
from harness.runtime.readiness import EndedProblem
from harness.write import state_store
from harness.write.table_state import State

Serve = Callable[[], AbstractContextManager[Metastore]]


class SharedCatalog:
    """Used as a context; a metastore is started when it is first asked for.

    For several threads.
    """

    def __init__(self, serve: Serve) -> None:
        """`serve` starts a metastore."""
        self._serve = serve
        self._states: list[State] = []
        self._registered = 0
        """So many of the states are in the metastore that runs."""
        self._stack = ExitStack()
        self._running: Metastore | None = None
        self._lock = threading.Lock()

    def add(self, states: Iterable[State]) -> None:
        """Have more states registered: in what `running` gives from now on."""
        with self._lock:
            self._states.extend(states)

    def running(self) -> Metastore:
        """Return a metastore that answers, with every state in it.

        Raises:
            EndedProblem: it ended; the message holds the end of its log.
            CatalogGoneProblem: it answered, and then no more.
            EnvironmentProblem: it does not get ready; with the end of its log.
            CatalogRefusedError: it refused a state.

        """
        with self._lock:
            try:
                if self._running is None or not self.answers(self._running):
                    return self._started()
                self._register(self._running)
            except (EndedProblem, CatalogGoneProblem):
                # Chance, or the metastore cannot run here: the second start tells.
                return self._started()
            return self._running

    def _started(self) -> Metastore:
        self._end()
        running, self._registered = self._stack.enter_context(self._serve()), 0
        self._register(running)
        self._running = running
        return running

    def _register(self, running: Metastore) -> None:
        if self._registered == len(self._states):
            return
        try:
            with metastore_client.connect(running.uri) as client:
                for state in self._states[self._registered :]:
                    state_store.register(client, state)
                    self._registered += 1
        except EnvironmentProblem as problem:
            if running.alive():
                raise
            raise EndedProblem(f"{problem}; the end of its log:\n{running.log_tail()}") from None

    def answers(self, one: Metastore) -> bool:
        """Return whether a metastore answers and was not replaced."""
        if self._running is not one or not one.alive():
            return False
        try:
            metastore_client.check(one.uri)
        except (EnvironmentProblem, CatalogRefusedError):
            return False
        return self._running is one

    def _end(self) -> None:
        self._running = None
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, at: TracebackType | None
    ) -> None:
        self._end()
