"""Servers that the tests of a session share."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from harness.engines.api import Server


class SharedServers:
    """One server a distribution, started when a test first asks for it; all end with `stack`.

    A test may end a server: who asks next gets a new one.
    """

    def __init__(
        self, serve: Callable[[str], AbstractContextManager[Server]], stack: ExitStack
    ) -> None:
        self._serve = serve
        self._stack = stack
        self._running: dict[str, Server] = {}

    def __call__(self, name: str) -> Server:
        if name not in self._running or not self._running[name].alive():
            self._running[name] = self._stack.enter_context(self._serve(name))
        return self._running[name]
