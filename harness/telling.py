"""The ways in which progress is told: lines for logs, a bar on a terminal, JSON for programs."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from typing import ClassVar, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as RichProgress

from harness.progress import Progress, megabytes

_QUARTERS = 4
_DRAWN_A_SECOND = 2
"""How often a bar is drawn; ten times, as rich does it, take a hundredth of a processor."""


class PlainProgress:
    """A line when a task starts and one when it is over, for logs."""

    def __init__(self, out: TextIO | None = None) -> None:
        """`out`: where the lines go, standard error unless given."""
        self._out = out or sys.stderr
        self._task = self._by = ""
        self._total = self._made = 0
        self._found: Counter[str] = Counter()

    def start(self, task: str, total_bytes: int) -> None:
        """Say what starts, and how large it is."""
        self._begin(task, 0)
        self.note(f"{task}: {megabytes(total_bytes)}")

    def count(self, task: str, total: int) -> None:
        """Say what starts, and how many there are."""
        self._begin(task, total)
        self.note(f"{task}: 0 of {total}")

    def _begin(self, task: str, total: int) -> None:
        self._task, self._total, self._made, self._by = task, total, 0, ""
        self._found.clear()

    def advance(self, amount: int) -> None:
        """Say how far a count has come, at every quarter."""
        before, self._made = self._made, self._made + amount
        if self._total and before * 4 // self._total < self._made * 4 // self._total < _QUARTERS:
            self.note(f"{self._task}: {self._made} of {self._total}{told(self._by, self._found)}")

    def found(self, by: str, what: str) -> None:
        """Count it."""
        self._by = by
        self._found[what] += 1
        self.advance(1)

    def done(self) -> None:
        """Say what is over."""
        self.note(f"{self._task}: done{told('', self._found)}")

    def note(self, text: str) -> None:
        """Write the line."""
        self._out.write(f"{text}\n")  # at once: several threads may have something to tell
        self._out.flush()


class TerminalProgress:
    """A bar on a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        """`console`: where the bar is drawn, standard error unless given."""
        self._console = console or Console(stderr=True)
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._text = ""
        self._found: Counter[str] = Counter()

    def start(self, task: str, total_bytes: int) -> None:
        """Draw a bar for the task."""
        self._begin(task, total_bytes, DownloadColumn(), TransferSpeedColumn())

    def count(self, task: str, total: int) -> None:
        """Draw a bar for the task."""
        self._begin(task, total, MofNCompleteColumn(), TimeElapsedColumn())

    def _begin(self, task: str, total: int, *figures: ProgressColumn) -> None:
        self.done()
        self._text = task
        self._found.clear()
        text = TextColumn("{task.description}", markup=False)
        columns = (text, BarColumn(), *figures)
        self._bar = RichProgress(
            *columns, console=self._console, refresh_per_second=_DRAWN_A_SECOND
        )
        self._bar.start()
        self._task = self._bar.add_task(task, total=total)

    def advance(self, amount: int) -> None:
        """Move the bar."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task, amount)

    def found(self, by: str, what: str) -> None:
        """Count it beside the bar."""
        self._found[what] += 1
        if self._bar is not None and self._task is not None:
            text = f"{self._text}{told(by, self._found)}"
            self._bar.update(self._task, advance=1, description=text)

    def done(self) -> None:
        """Leave the bar where it is."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None

    def note(self, text: str) -> None:
        """Print the line above the bar."""
        self._console.print(text, markup=False, highlight=False)


class JsonProgress:
    """One JSON object a line, for programs; the documentation lists the events."""

    speaking: ClassVar = threading.RLock()
    """Held while a line is written; who keeps it has the last word."""

    def __init__(self, out: TextIO) -> None:
        """`out`: where the lines go."""
        self._out = out
        self._task = self._by = ""
        self._total = self._made = 0
        self._found: Counter[str] = Counter()

    def start(self, task: str, total_bytes: int) -> None:
        """Tell of a task of so many bytes."""
        self._begin(task, total_bytes, "bytes")

    def count(self, task: str, total: int) -> None:
        """Tell of a task of so many things."""
        self._begin(task, total, "things")

    def _begin(self, task: str, total: int, unit: str) -> None:
        self._task, self._total, self._made, self._by = task, total, 0, ""
        self._found.clear()
        self.tell("start", task=task, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        """Tell how far it has come, at every hundredth."""
        before, self._made = self._made, self._made + amount
        if self._total and before * 100 // self._total != self._made * 100 // self._total:
            self._state("progress")

    def found(self, by: str, what: str) -> None:
        """Count it."""
        self._by = by
        self._found[what] += 1
        self.advance(1)

    def done(self) -> None:
        """Tell the end of the task."""
        self._state("done")

    def note(self, text: str) -> None:
        """Tell a line for people."""
        self.tell("note", text=text)

    def tell(self, event: str, **facts: object) -> None:
        """Write an event."""
        with self.speaking:
            self._out.write(json.dumps({"event": event, **facts}) + "\n")
            self._out.flush()

    def _state(self, event: str) -> None:
        found = dict(self._found)
        facts = {"task": self._task, "by": self._by, "done": self._made, "total": self._total}
        self.tell(event, **facts, found=found)


def told(by: str, found: Counter[str]) -> str:
    """Give what was found so far, to stand behind a count. Pure.

    >>> told("trino-476", Counter(answered=7, refused=1))
    ' (trino-476): 7 answered, 1 refused'
    """
    counts = ", ".join(f"{number} {what}" for what, number in found.items())
    return (f" ({by})" if by else "") + (f": {counts}" if counts else "")


def for_stream(stream: TextIO) -> Progress:
    """A bar when `stream` is a terminal, plain lines otherwise."""
    return TerminalProgress(Console(file=stream)) if stream.isatty() else PlainProgress(stream)
