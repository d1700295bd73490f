from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plan.product import cover

AXES = st.dictionaries(
    st.sampled_from(["format", "writer", "rewrites", "partitioned", "twin"]),
    st.integers(1, 4),
    min_size=1,
)


@st.composite
def feasible(draw: st.DrawFn) -> list[dict[str, str]]:
    """Some of all combinations of some axes."""
    axes = draw(AXES)
    values = [[f"{name}{at}" for at in range(count)] for name, count in axes.items()]
    every = [dict(zip(axes, values, strict=True)) for values in product(*values)]
    return [entry for entry in every if draw(st.integers(0, 3))][:200]


def together(combination: dict[str, str]) -> set[frozenset[tuple[str, str]]]:
    return {frozenset(combination) for combination in combinations(combination.items(), 2)}


@given(feasible())
def test_every_pair_that_can_be_is_in_a_chosen_combination(can: list[dict[str, str]]) -> None:
    chosen = [can[at] for at in cover(can)]
    requested = set().union(*map(together, can)) if can else set()
    assert (set().union(*map(together, chosen)) if chosen else set()) == requested
    alone = {item for entry in can for item in entry.items()}
    assert {item for entry in chosen for item in entry.items()} == alone


@given(feasible())
def test_the_same_combinations_give_the_same_choice_in_their_order(
    can: list[dict[str, str]],
) -> None:
    chosen = cover(can)
    assert chosen == cover(list(can)) == tuple(sorted(set(chosen)))


@pytest.mark.parametrize(("sizes", "most"), [((4, 4, 2, 2, 2), 18), ((4, 3, 2, 2, 2), 14)])
def test_pairs_take_little_more_than_the_two_longest_axes(
    sizes: tuple[int, ...], most: int
) -> None:
    values = [[str(at) for at in range(size)] for size in sizes]
    can = [dict(zip("abcde", values, strict=True)) for values in product(*values)]
    assert sizes[0] * sizes[1] <= len(cover(can)) <= most < len(can)
