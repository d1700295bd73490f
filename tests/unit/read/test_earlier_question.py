"""The earlier question on which an answer depends: found where one alone is enough."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.read.earlier_question import sole_culprit

FEW = 2


@given(st.data(), st.integers(1, 40))
def test_one_that_is_enough_is_found_in_few_tries(data: st.DataObject, size: int) -> None:
    wanted = data.draw(st.integers(0, size - 1))
    tries: list[Sequence[int]] = []

    def enough(some: Sequence[int]) -> bool:
        tries.append(some)
        return wanted in some

    assert sole_culprit(range(size), enough) == wanted
    assert len(tries) <= 1 + FEW * size.bit_length()


@given(st.data(), st.integers(2, 40))
def test_none_is_named_where_it_takes_two(data: st.DataObject, size: int) -> None:
    both = data.draw(st.sets(st.integers(0, size - 1), min_size=2, max_size=2))
    assert sole_culprit(range(size), lambda some: both <= set(some)) is None


def test_none_is_named_where_none_is_enough_and_nothing_is_tried_where_there_is_none() -> None:
    tries: list[Sequence[int]] = []

    def enough(some: Sequence[int]) -> bool:
        tries.append(some)
        return False

    assert sole_culprit((), enough) is None
    assert tries == []
    assert sole_culprit((1, 2, 3), enough) is None
    assert tries == [(1, 2, 3)]
