from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from harness.runtime import process
from harness.runtime.process import EndedProblem, PortTakenProblem, ProcessProblem, wait_until


class NotYetError(Exception):
    pass


@dataclass
class Simulated:
    log: str = ""
    runs: bool = True

    def alive(self) -> bool:
        return self.runs

    def log_tail(self, lines: int = 3) -> str:
        return "\n".join(self.log.splitlines()[-lines:])


def never() -> str:
    raise NotYetError("it loads classes")


def waited(check: Callable[[], str], process: Simulated, timeout_s: float = 60) -> str:
    return wait_until(check, process, timeout_s=timeout_s, what="it", not_yet=(NotYetError,))


def test_what_the_first_check_that_succeeds_gave_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "POLL_S", 0)
    left = ["up", "", ""]
    assert waited(lambda: left.pop() or never(), Simulated()) == "up"
    assert left == []


def test_waiting_for_a_process_that_ended_tells_the_end_of_its_log() -> None:
    with pytest.raises(EndedProblem, match=r"it ended before it was ready(.|\n)*no memory"):
        waited(never, Simulated("no memory", runs=False))


def test_waiting_for_a_process_that_is_silent_ends_with_the_last_reason() -> None:
    with pytest.raises(ProcessProblem, match=r"within 0 s \(it loads classes\)(.|\n)*slow") as late:
        waited(never, Simulated("slow"), timeout_s=0)
    assert not isinstance(late.value, EndedProblem)  # another start would be as slow
    assert late.value.log == "slow"


def test_the_reason_is_found_and_shown_where_the_log_ends_with_much_else() -> None:
    log = "\n".join(["Caused by: BindException: Address already in use", *["Net: sun.nio"] * 200])
    with pytest.raises(PortTakenProblem, match=r"Caused by: BindException") as taken:
        waited(never, Simulated(log, runs=False))
    assert str(taken.value).count("Net") == 40


def test_an_unexpected_error_of_a_check_is_not_waited_out() -> None:
    with pytest.raises(ZeroDivisionError):
        waited(lambda: str(1 // 0), Simulated())


def test_a_property_that_a_server_does_not_know_is_all_that_is_reported() -> None:
    message = "Configuration property 'hudi.x' was not used. Did you mean to use 'hudi.y'?"
    errors = f"1) Error: {message}\n"
    log = f"{errors}\n1 error\nException: Configuration errors:\n{errors}\tat a"
    with pytest.raises(ProcessProblem) as problem:
        waited(never, Simulated(log, runs=False))
    assert str(problem.value) == f"it does not take its configuration: {message}"
