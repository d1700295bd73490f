"""Progress as bars on a terminal, one for each task that runs."""

from __future__ import annotations

import threading
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)
from rich.table import Column
from rich.text import Text

from harness.core.progress import Count, state

_DRAWN_A_SECOND: Final = 2
"""How often bars are drawn; ten times, as rich does it, take a hundredth of a processor."""
_BAR: Final = 12
"""So wide is a bar: what stands beside it tells more."""


class _Figures(ProgressColumn):
    """Beside a bar of bytes how many there are and how fast they come; beside others the time."""

    _SIZES = DownloadColumn(), TransferSpeedColumn()
    _TIME = TimeElapsedColumn()

    def render(self, task: Task) -> Text:
        """Return the figures of a task."""
        if task.fields["bytes"]:
            return Text(" ").join(each.render(task) for each in self._SIZES)
        return self._TIME.render(task)


class TerminalProgress:
    """Bars on a terminal, one for each task."""

    def __init__(self, console: Console | None = None) -> None:
        """`console`: where the bars are drawn, standard error unless given."""
        self._console = console or Console(stderr=True)
        self._bars: Progress | None = None
        self._running: dict[Count | None, TaskID] = {}
        """By their counts; that of bytes has none."""
        self._lock = threading.Lock()

    def start(self, task: str, total_bytes: int) -> None:
        """Draw a bar for the task."""
        self.done()
        self._begin(None, task, total_bytes)

    def advance(self, amount: int) -> None:
        """Move the bar of bytes."""
        with self._lock:
            if self._bars is not None and None in self._running:
                self._bars.advance(self._running[None], amount)

    def done(self) -> None:
        """Leave the bar of bytes where it is."""
        self._end(None)

    def count(self, task: str, total: int) -> Count:
        """Draw a bar for the task, with what was found beside it."""
        count = Count(task, total, self._moved, self._end)
        self._begin(count, state(count), total)
        return count

    def _begin(self, key: Count | None, text: str, total: int) -> None:
        """Draw a bar for a count, or for bytes."""
        with self._lock:
            if self._bars is None:
                self._bars = _drawn(self._console)
                self._bars.start()
            self._running[key] = self._bars.add_task(text, total=total, bytes=key is None)

    def _moved(self, count: Count, _: int) -> None:
        with self._lock:
            if self._bars is not None and count in self._running:
                at = self._running[count]
                self._bars.update(at, completed=count.made, description=state(count))

    def _end(self, key: Count | None) -> None:
        """Leave a bar where it is; with the last one all stay."""
        with self._lock:
            self._running.pop(key, None)
            if self._bars is not None and not self._running:
                self._bars.stop()
                self._bars = None

    def note(self, text: str) -> None:
        """Print the line above the bars."""
        self._console.print(text, markup=False, highlight=False)


def _drawn(console: Console) -> Progress:
    """Return bars; the words beside them take all the room that is left."""
    words = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1))
    columns = (words, BarColumn(_BAR), _Figures())
    return Progress(*columns, console=console, refresh_per_second=_DRAWN_A_SECOND, expand=True)
