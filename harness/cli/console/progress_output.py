"""The ways in which progress is told: lines for logs, JSON for programs, or bars (`bars`)."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, TextIO

from rich.console import Console

from harness.cli.console.progress_bars import TerminalProgress
from harness.core.progress import Count, Progress, came, megabytes, state

MINUTE_S: Final = 60.0
_QUARTERS: Final = 4
_HUNDREDTHS: Final = 100

Clock = Callable[[], float]


class Pace:
    """The counts that run, and which are worth a word: at each part of one, after a minute all."""

    def __init__(self, parts: int, clock: Clock) -> None:
        """`parts`: in how many a count is told; `clock`: gives seconds."""
        self._parts, self._clock, self._told = parts, clock, 0.0
        self._running: list[Count] = []
        self._lock = threading.Lock()

    def begin(self, count: Count) -> Count:
        """Take a count in."""
        count.lock = self._lock
        with self._lock:
            if not self._running:
                self._told = self._clock()
            self._running.append(count)
        return count

    def end(self, count: Count) -> None:
        """Leave a count out from now on."""
        self._running = [each for each in self._running if each is not count]

    def due(self, count: Count, before: int) -> Sequence[Count]:
        """Return the counts to tell now that one has moved."""
        if (now := self._clock()) - self._told >= MINUTE_S:
            self._told = now
            return tuple(self._running)
        parts, total = self._parts, count.total
        passed = total and before * parts // total != count.made * parts // total
        return (count,) if passed else ()


class PlainProgress:
    """Lines for logs: when a task starts, when it is over, and few between."""

    def __init__(self, out: TextIO | None = None, clock: Clock = time.monotonic) -> None:
        """`out`: where the lines go, standard error unless given."""
        self._out = out or sys.stderr
        self._task = ""
        self._pace = Pace(_QUARTERS, clock)

    def start(self, task: str, total_bytes: int) -> None:
        """Return what starts, and how large it is."""
        self._task = task
        self.note(f"{task}: {megabytes(total_bytes)}")

    def advance(self, amount: int) -> None:
        """Nothing; of bytes only the end is told."""

    def done(self) -> None:
        """Return what is over."""
        self.note(f"{self._task}: done")

    def count(self, task: str, total: int) -> Count:
        """Return what starts, and how many there are; then at every quarter and every minute."""
        self.note(f"{task}: 0 of {total:,}")
        return self._pace.begin(Count(task, total, self._moved, self._ended))

    def _moved(self, count: Count, before: int) -> None:
        if due := [each for each in self._pace.due(count, before) if each.left]:
            self.note("; ".join(map(state, due)))

    def _ended(self, count: Count) -> None:
        self._pace.end(count)
        if not count.given_up:
            self.note(f"{count.task}: done{came(count)}")

    def note(self, text: str) -> None:
        """Write the line."""
        self._out.write(f"{text}\n")  # at once: several threads may have something to tell
        self._out.flush()


class JsonProgress:
    """One JSON object a line, for programs; the documentation lists the events."""

    speaking: ClassVar = threading.RLock()
    """Held while a line is written; who keeps it has the last word."""

    def __init__(self, out: TextIO, clock: Clock = time.monotonic) -> None:
        """`out`: where the lines go."""
        self._out = out
        self._pace = Pace(_HUNDREDTHS, clock)
        self._bytes: Count | None = None

    def start(self, task: str, total_bytes: int) -> None:
        """Tell of a task of so many bytes."""
        if self._bytes is not None:
            self._pace.end(self._bytes)
        self._bytes = self._begin(task, total_bytes, "bytes")

    def advance(self, amount: int) -> None:
        """Return how far it has come, as of a count."""
        if self._bytes is not None:
            self._bytes.advance(amount)

    def done(self) -> None:
        """Tell the end of the task."""
        if self._bytes is not None:
            self._bytes.end()

    def count(self, task: str, total: int) -> Count:
        """Tell of a task of so many things; then at every hundredth and every minute."""
        return self._begin(task, total, "things")

    def _begin(self, task: str, total: int, unit: str) -> Count:
        self.tell("start", task=task, total=total, unit=unit)
        return self._pace.begin(Count(task, total, self._moved, self._ended))

    def _moved(self, count: Count, before: int) -> None:
        for each in self._pace.due(count, before):
            self._state("progress", each)

    def _ended(self, count: Count) -> None:
        self._pace.end(count)
        if not count.given_up:
            self._state("done", count)

    def note(self, text: str) -> None:
        """Tell a line for people."""
        self.tell("note", text=text)

    def tell(self, event: str, **facts: object) -> None:
        """Write an event."""
        with self.speaking:
            self._out.write(json.dumps({"event": event, **facts}) + "\n")
            self._out.flush()

    def _state(self, event: str, count: Count) -> None:
        facts = {"task": count.task, "by": count.by, "done": count.made, "total": count.total}
        counted = {"found": dict(count.outcomes), "judged": dict(count.judged)}
        self.tell(event, **facts, left=count.left, **counted)


def for_stream(stream: TextIO) -> Progress:
    """Bars when `stream` is a terminal, plain lines otherwise."""
    return TerminalProgress(Console(file=stream)) if stream.isatty() else PlainProgress(stream)
