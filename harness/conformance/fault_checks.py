"""What becomes of a question that has no answer: it takes too long, or its server dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from harness.conformance.checked_engine import Check, CheckedEngine
from harness.conformance.results import CheckResult, failed, not_applicable, passed
from harness.core.errors import HarnessError
from harness.engines.api import NoAnswerError, RefusedError
from harness.model.query import Query
from harness.runtime.api import Running

ENDLESS_S: Final = 8.0
"""How long a question that has no end is waited for."""
WINDOW_S: Final = 4.0
"""Over so long the use of processors is looked at."""
IDLE_S: Final = 60.0
"""So long a server may go on with a question that nobody waits for."""
QUIETER: Final = 4
"""A server that is idle uses its processors so many times less than with the question."""
LOOK_S: Final = 0.2
DEATH_S: Final = 30.0
"""How soon a death is noticed, and a question must be under way."""
IN_PROCESS: Final = "it runs inside of the harness's own process"


def time_out(on: CheckedEngine) -> CheckResult:
    """Check that a question without end is no answer, and no refusal; the server goes on."""
    told = _endless(on, ENDLESS_S)
    if told.problem:
        return failed(told.problem)
    if not on.server.alive():
        return passed(f"{told.silence} (its server was ended)")
    rows = on.ask(Query(count=True)).rows
    return passed(told.silence) if rows == ((2,),) else failed(f"afterwards it answered {rows}")


def cancel(on: CheckedEngine) -> CheckResult:
    """Check that the server does not go on with a question that nobody waits for."""
    if on.running is None:
        return not_applicable(IN_PROCESS)
    if not on.server.alive() or on.server.exhausted():
        return not_applicable("after a question that takes too long another server is asked")
    before, began = on.running.cpu_s(), time.monotonic()
    told = _endless(on, ENDLESS_S)
    if told.problem:
        return failed(told.problem)
    busy = (on.running.cpu_s() - before) / (time.monotonic() - began)
    idle = _least_use(on.running, busy / QUIETER)
    used = f"{busy:.2f} processors with the question, {idle:.2f} without"
    return passed(used) if idle <= busy / QUIETER else failed(f"it goes on: {used}")


def crash(on: CheckedEngine) -> CheckResult:
    """Check that the death of a server while it is asked is no answer, and no refusal."""
    running = on.running
    if running is None:
        return not_applicable(IN_PROCESS)
    told = _Told()
    asking = threading.Thread(target=_ask_into, args=(told, on, on.timeout_s), daemon=True)
    before = running.cpu_s()
    asking.start()
    _until(lambda: running.cpu_s() > before + 1 or not asking.is_alive(), DEATH_S)
    running.stop(0)
    asking.join(DEATH_S)
    if asking.is_alive():
        return failed(f"nobody was told of its death within {DEATH_S:.0f} s")
    if told.problem:
        return failed(told.problem)
    if not _until(lambda: not on.server.alive(), DEATH_S):
        return failed("a server that was killed counts as alive")
    return _unreachable(on, told.silence)


def _unreachable(on: CheckedEngine, silence: str) -> CheckResult:
    try:
        on.connect().close()
    except NoAnswerError:
        return passed(silence)
    return failed("a server that was killed opened another session")


@dataclass(slots=True)
class _Told:
    """What came of a question without end."""

    silence: str = ""
    """Why there was no answer, as is right; its first line."""
    problem: str = field(default="no word of what became of the question")
    """What came instead."""


def _endless(on: CheckedEngine, timeout_s: float) -> _Told:
    told = _Told()
    _ask_into(told, on, timeout_s)
    return told


def _ask_into(told: _Told, on: CheckedEngine, timeout_s: float) -> None:
    try:
        with closing(on.connect()) as session:
            rows = on.ask_endless(session, timeout_s).rows
        told.problem = f"a question without end was answered with {rows}"
    except NoAnswerError as silence:
        told.silence, told.problem = str(silence).partition("\n")[0], ""
    except RefusedError as refused:
        told.problem = f"no answer was told as a refusal: {refused}"
    except HarnessError as broke:
        told.problem = f"no answer was told as a failure of the harness: {broke}"


def _least_use(running: Running, enough: float) -> float:
    """Return the least use of processors over a window; no more are looked at when it is enough."""
    until, least = time.monotonic() + IDLE_S, float("inf")
    while least > enough and time.monotonic() < until:
        before, began = running.cpu_s(), time.monotonic()
        time.sleep(WINDOW_S)
        least = min(least, (running.cpu_s() - before) / (time.monotonic() - began))
    return least


def _until(condition: Callable[[], bool], most_s: float) -> bool:
    """Wait for a condition; return whether it came true in time."""
    deadline = time.monotonic() + most_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_S)
    return True


CHECKS: Final = (
    Check("time-out", "a question that takes too long has no answer", time_out),
    Check("cancel", "nor does its server go on with it", cancel, of_the_dead=True),
    Check("crash", "a server that dies while it is asked gave no answer", crash),
)
