"""A cached method works out each thing once, for its own object."""

from __future__ import annotations

import pytest

from harness.core.cached_method import cached_method


class Squares:
    """Numbers that note what was worked out."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    @cached_method
    def square(self, number: int) -> int:
        self.asked.append(number)
        if number < 0:
            raise ValueError(number)
        return number**2


def test_the_same_arguments_are_worked_out_once_in_each_object() -> None:
    one, other = Squares(), Squares()
    assert [one.square(number) for number in (2, 3, 2)] == [4, 9, 4]
    assert (other.square(2), one.asked, other.asked) == (4, [2, 3], [2])


def test_what_raises_is_tried_again() -> None:
    squares = Squares()
    for _ in range(2):
        with pytest.raises(ValueError, match="-1"):
            squares.square(-1)
    assert squares.asked == [-1, -1]
