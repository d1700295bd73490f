from __future__ import annotations

import threading

import pytest

from harness.side_by_side import HaltedError, Lanes


def test_every_job_is_done() -> None:
    done: list[int] = []
    Lanes(2).do([lambda number=number: done.append(number) for number in range(7)])  # type: ignore[misc]
    assert sorted(done) == list(range(7))


def test_without_jobs_nothing_is_waited_for() -> None:
    Lanes(2).do([])


def test_so_many_run_side_by_side() -> None:
    both = threading.Barrier(2)
    Lanes(2).do([lambda: _met(both), lambda: _met(both)])


def _met(barrier: threading.Barrier) -> None:
    barrier.wait(30)


def test_the_first_that_fails_is_raised_at_once_and_the_others_are_told() -> None:
    halted, go_on = threading.Event(), threading.Event()
    lanes, later = Lanes(2), []

    def fails() -> None:
        raise ValueError("no")

    def goes_on() -> None:
        go_on.wait(30)
        try:
            lanes.check()
        except HaltedError:
            halted.set()
            raise

    # The job that waits ends only after the failure was raised.
    with pytest.raises(ValueError, match="no"):
        lanes.do([goes_on, fails, lambda: later.append(1)])
    go_on.set()
    assert halted.wait(30)
    assert not later
