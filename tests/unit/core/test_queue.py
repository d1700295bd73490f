"""What one thread gives another: waited for, all there is at once, and an end."""

from __future__ import annotations

import threading

from harness.core.queue import Handover


def test_all_that_was_given_is_taken_at_once_and_once() -> None:
    pile = Handover[int]()
    pile.give([1, 2])
    pile.give([3])
    assert pile.take() == [1, 2, 3]
    pile.close()
    assert pile.take() == []


def test_what_was_given_before_the_end_is_taken_before_it() -> None:
    pile = Handover[int]()
    pile.give([1])
    pile.close()
    pile.close()
    assert [pile.take(), pile.take()] == [[1], []]


def test_who_takes_waits_until_something_is_there() -> None:
    pile, taken = Handover[int](), list[list[int]]()
    begun = threading.Event()

    def take() -> None:
        begun.set()
        while some := pile.take():
            taken.append(some)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    assert begun.wait(30)
    pile.give([])  # nothing, which is no end
    pile.give([1])
    pile.close()
    thread.join(30)
    assert taken == [[1]]
