"""The program meets signals, and standard streams that are closed or full.

Who ends reading early (`| head`) has seen enough: what comes after is dropped, and the command ends
as it would have. A closed stream is as `/dev/null`. A stream that is full breaks the command off.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Final

from harness.core.errors import EnvironmentProblem, unwritable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
STATUS_FROM: Final = 128
"""The exit status is this and the signal's number, as of a program that the signal ended."""
TELLING: Final = re.compile(
    "audit|baseline|cache|compare|doctor|engines|explain|export-fixtures|fetch|history|judge|"
    "matrix|plan|read|remedy|report|reproduce|run|scan|upgrade|write"
)
SILENT: Final = frozenset({"--quiet", "--json", "--help"})
_SHOW_CURSOR: Final = "\x1b[?25h"
_NAMES: Final = {"stdout": "standard output", "stderr": "standard error"}


def print_interrupted(_: int) -> None:
    print("harness: interrupted", file=sys.stderr, flush=True)


@contextmanager
def ending_at_once(report: Callable[[int], None]) -> Iterator[None]:
    """End the program at these signals, after `report(exit status)`, as if it was killed.

    Every record is written as it comes, and the watchdog ends all processes. Only the main thread
    can ask for that; in another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: FrameType | None) -> None:
        for handled in SIGNALS:
            signal.signal(handled, signal.SIG_IGN)
        try:
            if sys.stderr.isatty():  # a bar may have hidden it
                sys.stderr.write(f"{_SHOW_CURSOR}\n")
            report(STATUS_FROM + number)
        finally:
            os._exit(STATUS_FROM + number)

    # A shell may have started this to go on whatever is typed (`nohup`, in the background).
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Stream(io.FileIO):
    """A descriptor that drops what nobody reads; it is left open at the end."""

    def __init__(self, number: int, name: str) -> None:
        super().__init__(number, "w", closefd=False)
        self._name = name

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes
        except OSError as error:
            raise unwritable(error, self._name) from error


def prepare_streams() -> None:
    """Let the program's streams exist, and drop what nobody reads; before anything is opened."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else the first file that is opened would get the output
            _to_nothing(number)
    for number, (name, words) in enumerate(_NAMES.items(), start=1):
        before: io.TextIOWrapper | None = getattr(sys, name)
        made = io.TextIOWrapper(
            io.BufferedWriter(_Stream(number, words)),
            encoding=before.encoding if before else "utf-8",
            errors="backslashreplace" if before is None else before.errors,
            line_buffering=before is not None and (before.line_buffering or before.write_through),
        )
        setattr(sys, name, made)


def say_what_begins(arguments: Sequence[str]) -> None:
    """Say in a log that a command has begun: it takes a second to load.

    On a terminal `app` shows it for so long; who wants little output, or JSON, gets none of it.
    """
    begun = bool(arguments) and TELLING.fullmatch(arguments[0]) is not None
    if begun and not {*arguments} & SILENT and not sys.stderr.isatty():
        with suppress(EnvironmentProblem):  # the command's own words meet it again
            print(f"harness {arguments[0]} begins", file=sys.stderr, flush=True)


def finish_streams(status: int) -> int:
    """Write what is left; return the exit status, which is not 0 when that fails."""
    for number, name in enumerate(_NAMES, start=1):
        try:
            getattr(sys, name).flush()
        except EnvironmentProblem as problem:
            if status != problem.exit_status:  # else it was reported
                with suppress(EnvironmentProblem):
                    print(f"harness: {problem}", file=sys.stderr)
            status = status or problem.exit_status
            _to_nothing(number)  # the interpreter's own last flush must not fail
    return status


def _to_nothing(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, number)
    if null == number:
        os.set_inheritable(number, True)
    else:
        os.close(null)
