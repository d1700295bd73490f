from __future__ import annotations

from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from harness.comparison.result import Changes, safe_order


def test_no_state_is_judged_twice_and_none_that_no_order_needs() -> None:
    judged: list[Changes] = []

    def is_safe(made: Changes) -> bool:
        judged.append(made)
        return 1 not in made or 2 in made

    assert safe_order(3, is_safe) == (2, 1, 3)
    assert len(judged) == len(set(judged))
    assert frozenset({1, 3}) not in judged


@given(st.sets(st.frozensets(st.integers(1, 4), min_size=1)))
def test_an_order_is_found_exactly_where_one_is_safe(unsafe: set[Changes]) -> None:
    def states(order: tuple[int, ...]) -> list[Changes]:
        return [frozenset(order[:at]) for at in range(1, 5)]

    good = [o for o in permutations(range(1, 5)) if not unsafe & set(states(o))]
    found = safe_order(4, lambda made: made not in unsafe)
    assert found == (good[0] if good else None)
    assert found is None or all(a < b for a, b in pairwise(states(found)))
