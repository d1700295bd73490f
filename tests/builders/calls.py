"""Which function of the harness calls which, seen while something is done."""

import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType

HARNESS = "harness."


@dataclass(frozen=True, slots=True)
class Call:
    """A call, or a generator that is gone on with, between two functions of the harness."""

    caller: str
    """The module's dotted name; of callers outside the harness the nearest one inside."""
    callee: str
    function: str


def calls_of(do: Callable[[], object]) -> list[Call]:
    """Return the calls that are made in this thread and in those that it starts, in their order."""
    calls: list[Call] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        callee = _module(frame)
        if event == "call" and callee.startswith(HARNESS):
            calls.append(Call(_caller(frame), callee, frame.f_code.co_qualname))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        do()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def called_back(calls: Iterable[Call], package: str) -> set[Call]:
    inside = f"{HARNESS}{package}."
    return {
        call
        for call in calls
        if call.callee.startswith(inside) and call.caller and not call.caller.startswith(inside)
    }


def _caller(frame: FrameType) -> str:
    """Return the nearest module of the harness that a call comes from; empty for none."""
    outer = frame.f_back
    while outer is not None and not _module(outer).startswith(HARNESS):
        outer = outer.f_back
    return _module(outer) if outer is not None else ""


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
