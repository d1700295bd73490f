"""Several changes in an order: which order is safe, and from where there is no way back. Pure.

A state on the way is what a set of the changes makes, whatever the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.comparison.answer import Decision
from harness.comparison.result import SideComparison

Changes = frozenset[int]
"""The numbers of the changes that are made, from 1."""
SAFE = frozenset({Decision.NOTHING_CHANGES, Decision.NOTHING_WORSE})


@dataclass(frozen=True, slots=True)
class RolloutState:
    """What there is after some changes, held against what there was before all of them."""

    changes: Changes
    name: str
    found: SideComparison
    back: SideComparison | None = None
    """The readers and the writer of before on what this state has left; None: not asked."""
    downgraded: SideComparison | None = None
    """The same after this state's writer brought the table version down; None: not tried."""

    @property
    def safe(self) -> bool:
        """Whether nothing is worse, and of nothing it is unknown."""
        return self.found.decision in SAFE

    @property
    def returns(self) -> bool:
        """Whether there is a way back."""
        return _safe(self.back) or _safe(self.downgraded)

    @property
    def returns_by_downgrade(self) -> bool:
        """Whether there is one, and none without a downgrade of the table version."""
        return _safe(self.downgraded) and not _safe(self.back)

    @property
    def comparisons(self) -> tuple[SideComparison, ...]:
        """Return all that was asked of it."""
        every = (self.found, self.back, self.downgraded)
        return tuple(each for each in every if each is not None)


def _safe(found: SideComparison | None) -> bool:
    return found is not None and found.decision in SAFE


@dataclass(frozen=True, slots=True)
class Rollout:
    """The states of an order of changes, and an order that is safe."""

    states: tuple[RolloutState, ...]
    """In the order that was asked for, one after each change."""
    safe_order: tuple[int, ...] | None
    """The numbers of the changes in the first order in which every state is safe; None: none."""
    tried: tuple[RolloutState, ...] = ()
    """Other states that were judged to find it."""

    @property
    def judged(self) -> tuple[RolloutState, ...]:
        """Return every state that was judged."""
        return (*self.states, *self.tried)

    @property
    def safe(self) -> bool:
        """Whether the order that was asked for is safe."""
        return all(each.safe for each in self.states)

    @property
    def status(self) -> int:
        """Return the exit status: 3 if of a state not all is known, else 1 if one is not safe."""
        return max((each.found.status for each in self.states), default=0)

    @property
    def no_return(self) -> RolloutState | None:
        """Return the first state from which there is no way back; None: from each there is one."""
        return next((each for each in self.states if not each.returns), None)


def safe_order(number: int, is_safe: Callable[[Changes], bool]) -> tuple[int, ...] | None:
    """Return the first order of changes in which every state is safe; None: there is none.

    The order that was asked for comes first. A state is judged when it is come to, and once.

    >>> safe_order(2, lambda made: made != {1})
    (2, 1)
    """
    return next(_orders(number, (), is_safe, dict[Changes, bool]()), None)


def _orders(
    number: int,
    made: tuple[int, ...],
    is_safe: Callable[[Changes], bool],
    known: dict[Changes, bool],
) -> Iterator[tuple[int, ...]]:
    if len(made) == number:
        yield made
    for each in range(1, number + 1):
        state = frozenset((*made, each))
        if each in made:
            continue
        if state not in known:
            known[state] = is_safe(state)
        if known[state]:
            yield from _orders(number, (*made, each), is_safe, known)
