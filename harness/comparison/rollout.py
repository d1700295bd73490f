"""Several changes in an order: which order is safe, and from where there is no way back. Pure.

A state on the way is what a set of the changes makes, whatever the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from harness.comparison.result import Decision, SideComparison

Changes = frozenset[int]
"""The numbers of the changes that are made, from 1."""
SAFE = frozenset({Decision.NOTHING_CHANGES, Decision.NOTHING_WORSE})


@dataclass(frozen=True, slots=True)
class RolloutState:
    """What there is after some changes, compared with what there was before all of them."""

    changes: Changes
    name: str
    comparison: SideComparison
    back: SideComparison | None = None
    """The readers and the writer of before on what this state has left; None: not asked."""
    downgraded: SideComparison | None = None
    """The same after this state's writer brought the table version down; None: not tried."""

    @property
    def safe(self) -> bool:
        """Whether nothing is worse, and of nothing it is unknown."""
        return self.comparison.decision in SAFE

    @property
    def returns(self) -> bool:
        return _safe(self.back) or _safe(self.downgraded)

    @property
    def returns_by_downgrade(self) -> bool:
        """Whether there is one, and none without a downgrade of the table version."""
        return _safe(self.downgraded) and not _safe(self.back)

    @property
    def comparisons(self) -> tuple[SideComparison, ...]:
        return tuple(filter(None, (self.comparison, self.back, self.downgraded)))


def _safe(comparison: SideComparison | None) -> bool:
    return comparison is not None and comparison.decision in SAFE


@dataclass(frozen=True, slots=True)
class Rollout:
    """The states of an order of changes, and an order that is safe."""

    states: tuple[RolloutState, ...]
    """In the order that was asked for, one after each change."""
    safe_order: tuple[int, ...] | None
    """The numbers of the changes in the first order in which every state is safe; None: none."""
    others: tuple[RolloutState, ...] = ()
    """Other states that were judged to find it."""

    @property
    def judged(self) -> tuple[RolloutState, ...]:
        return (*self.states, *self.others)

    @property
    def safe(self) -> bool:
        return all(state.safe for state in self.states)

    @property
    def status(self) -> int:
        """The exit status: 3 if of a state not all is known, else 1 if one is not safe."""
        return max((state.comparison.status for state in self.states), default=0)

    @property
    def no_return(self) -> RolloutState | None:
        """The first state from which there is no way back; None: from each there is one."""
        return next((state for state in self.states if not state.returns), None)


def safe_order(number: int, is_safe: Callable[[Changes], bool]) -> tuple[int, ...] | None:
    """Return the first order of changes in which every state is safe; None: there is none.

    The order that was asked for comes first. A state is judged when it is reached, and once.

    >>> safe_order(2, lambda made: made != {1})
    (2, 1)
    """
    judge = cache(is_safe)

    def orders(made: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(made) == number:
            yield made
        for change in range(1, number + 1):
            if change not in made and judge(frozenset((*made, change))):
                yield from orders((*made, change))

    return next(orders(()), None)
