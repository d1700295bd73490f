"""Ctrl-C and SIGTERM end the harness at once; what was recorded is there, what it started ends too.

It ends as a harness does that is killed: every record is written as it comes, and the watchdog ends
all processes. So there is nothing to wait for.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
STATUS_FROM: Final = 128
"""The exit status is this and the signal's number, as of a program that the signal ended."""
_SHOW_CURSOR: Final = "\x1b[?25h"


def print_interrupted(_: int) -> None:
    print("harness: interrupted", file=sys.stderr, flush=True)


@contextmanager
def ending_at_once(report: Callable[[int], None]) -> Iterator[None]:
    """End the program at these signals, after `report(exit status)`.

    Only the main thread can ask for that; in another one nothing changes.
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
    before = {signals: signal.signal(signals, end) for signals in heeded}
    try:
        yield
    finally:
        for signals, handler in before.items():
            signal.signal(signals, handler)
