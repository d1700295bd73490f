"""Work that is killed at each line of some modules, as by SIGKILL: nothing more is carried out."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Any


def lines_of(modules: Sequence[ModuleType], work: Callable[[], object]) -> int:
    """Return how many lines of the modules are carried out by work in a process of its own."""
    counted, reported = os.pipe()
    status = _forked(modules, work, lambda number: os.write(reported, f"{number}\n".encode()))
    assert status == 0, "the work fails by itself"
    os.close(reported)
    with os.fdopen(counted, encoding="ascii") as numbers:
        return max(map(int, numbers))


def kill_at(line: int, modules: Sequence[ModuleType], work: Callable[[], object]) -> bool:
    """Kill a process before it carries out that line of the modules; return whether it died so."""

    def kill(number: int) -> None:
        if number == line:
            os.kill(os.getpid(), signal.SIGKILL)

    return os.WIFSIGNALED(_forked(modules, work, kill))


def ends_well(work: Callable[[], object]) -> bool:
    """Return whether work, in a process of its own, raises nothing."""
    return _forked((), work, lambda _: None) == 0


def _forked(
    modules: Sequence[ModuleType], work: Callable[[], object], at_line: Callable[[int], object]
) -> int:
    """Do work in a process of its own, which tells of each line before it; return its status."""
    files, number = {module.__file__ for module in modules}, 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401 - as `sys.settrace`
        nonlocal number
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            number += 1
            at_line(number)
        return trace

    if child := os.fork():
        return os.waitpid(child, 0)[1]
    status = 1
    try:
        sys.settrace(trace)
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - told, and by the status
        traceback.print_exc()
    finally:
        sys.settrace(None)
        os._exit(status)
