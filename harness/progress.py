"""How a long-running phase tells a person what it is doing."""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
from rich.progress import Progress as RichProgress

_WHOLE_FROM = 10
"""From so many megabytes on, tenths are not told."""


class Progress(Protocol):
    """One task at a time; `note` may be called at any time, also with no task running."""

    def start(self, task: str, total_bytes: int) -> None:
        """A task begins; any before it is over."""

    def advance(self, amount: int) -> None:
        """So many more bytes are done; negative when some must be done again."""

    def done(self) -> None:
        """The task that was started is over."""

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

    def note(self, text: str) -> None:
        """Nothing."""


class PlainProgress:
    """A line when a task starts and one when it is over, for logs."""

    def __init__(self, out: TextIO | None = None) -> None:
        """`out`: where the lines go, standard error unless given."""
        self._out = out or sys.stderr
        self._task = ""

    def start(self, task: str, total_bytes: int) -> None:
        """Say what starts, and how large it is."""
        self._task = task
        self.note(f"{task}: {megabytes(total_bytes)}")

    def advance(self, amount: int) -> None:
        """Nothing: a log needs no bar."""

    def done(self) -> None:
        """Say what is over."""
        self.note(f"{self._task}: done")

    def note(self, text: str) -> None:
        """Write the line."""
        print(text, file=self._out, flush=True)


class TerminalProgress:
    """A bar on a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        """`console`: where the bar is drawn, standard error unless given."""
        self._console = console or Console(stderr=True)
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def start(self, task: str, total_bytes: int) -> None:
        """Draw a bar for the task."""
        self.done()
        columns = (TextColumn("{task.description}", markup=False), BarColumn())
        self._bar = RichProgress(
            *columns, DownloadColumn(), TransferSpeedColumn(), console=self._console
        )
        self._bar.start()
        self._task = self._bar.add_task(task, total=total_bytes)

    def advance(self, amount: int) -> None:
        """Move the bar."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task, amount)

    def done(self) -> None:
        """Leave the bar where it is."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None

    def note(self, text: str) -> None:
        """Print the line above the bar."""
        self._console.print(text, markup=False, highlight=False)


def for_stream(stream: TextIO) -> Progress:
    """A bar when `stream` is a terminal, plain lines otherwise."""
    return TerminalProgress(Console(file=stream)) if stream.isatty() else PlainProgress(stream)


def megabytes(size: int) -> str:
    """A number of bytes for people, in decimal megabytes (`821 MB`, `0.2 MB`)."""
    number = size / 1e6
    return f"{number:.0f} MB" if number >= _WHOLE_FROM else f"{number:.1f} MB"
