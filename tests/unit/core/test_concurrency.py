import threading
from functools import partial

import pytest

from harness.core.concurrency import ClosableQueue, HaltedError, JobThreads


def test_so_many_run_side_by_side() -> None:
    all_met = threading.Barrier(3)
    with JobThreads(2).running([lambda: _met(all_met), lambda: _met(all_met)]):
        _met(all_met)  # and so does what they are done beside


def _met(barrier: threading.Barrier) -> None:
    barrier.wait(30)


def _goes_on(threads: JobThreads, go_on: threading.Event, halted: threading.Event) -> None:
    """Wait, and return whether the job was halted."""
    go_on.wait(30)
    try:
        threads.check()
    except HaltedError:
        halted.set()
        raise


def test_the_first_that_fails_is_raised_at_once_and_the_others_are_reported() -> None:
    halted, go_on = threading.Event(), threading.Event()
    threads, later = JobThreads(2), []
    goes_on = partial(_goes_on, threads, go_on, halted)

    def fails() -> None:
        raise ValueError("no")

    # The job that waits ends only after the failure was raised.
    with (
        pytest.raises(ValueError, match="no"),
        threads.running([goes_on, fails, lambda: later.append(1)]),
    ):
        pass
    go_on.set()
    assert halted.wait(30)
    assert not later


def test_what_breaks_beside_them_is_raised_at_once_and_they_are_reported() -> None:
    halted, go_on = threading.Event(), threading.Event()
    threads = JobThreads(1)
    goes_on = partial(_goes_on, threads, go_on, halted)
    with pytest.raises(ValueError, match="no"), threads.running([goes_on]):
        raise ValueError("no")
    go_on.set()
    assert halted.wait(30)


def test_what_fails_early_is_raised_when_the_other_is_over() -> None:
    failed, over = threading.Event(), []

    def fails() -> None:
        failed.set()
        raise ValueError("no")

    def beside() -> None:
        with JobThreads(1).running([fails]):
            assert failed.wait(30)
            over.append(1)

    with pytest.raises(ValueError, match="no"):
        beside()
    assert over


def test_all_that_was_given_is_taken_at_once_and_once() -> None:
    queue = ClosableQueue[int]()
    queue.put_all([1, 2])
    queue.put_all([3])
    assert queue.take_all() == [1, 2, 3]
    queue.close()
    assert queue.take_all() == []


def test_who_takes_waits_until_something_is_there() -> None:
    queue, taken = ClosableQueue[int](), list[list[int]]()
    begun = threading.Event()

    def take() -> None:
        begun.set()
        while some := queue.take_all():
            taken.append(some)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    assert begun.wait(30)
    queue.put_all([])  # nothing, which is no end
    queue.put_all([1])
    queue.close()
    thread.join(30)
    assert taken == [[1]]
