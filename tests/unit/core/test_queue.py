"""What one thread gives another: waited for, all there is at once, and an end."""

from __future__ import annotations

import threading

from harness.core.concurrency import ClosableQueue


def test_all_that_was_given_is_taken_at_once_and_once() -> None:
    queue = ClosableQueue[int]()
    queue.put_all([1, 2])
    queue.put_all([3])
    assert queue.take_all() == [1, 2, 3]
    queue.close()
    assert queue.take_all() == []


def test_what_was_given_before_the_end_is_taken_before_it() -> None:
    queue = ClosableQueue[int]()
    queue.put_all([1])
    queue.close()
    queue.close()
    assert [queue.take_all(), queue.take_all()] == [[1], []]


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
