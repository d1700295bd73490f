"""Which component of the new side makes answers worse. Pure.

Each component is swapped alone; one that shows all of a cause by itself is to blame. Where none
does, and each was tried, only several of them together do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.comparison.cell_pairs import CellPair
from harness.comparison.regressions import Regression
from harness.core.records import QuestionKey


@dataclass(frozen=True, slots=True)
class Swap:
    """The old side with one component of the new one, compared with the old side."""

    component: str
    old: str
    new: str
    worse: tuple[CellPair, ...] = ()
    why_not: str = ""
    """Why it could not be tried; else empty."""

    def __str__(self) -> str:
        return f"{self.component} {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class SuspectComponents:
    """What is known of the components that bring a cause about."""

    alone: tuple[Swap, ...] = ()
    """Each of these shows all of it by itself."""
    partly: tuple[Swap, ...] = ()
    """Each of these shows some of it."""
    untried: tuple[Swap, ...] = ()

    @property
    def together(self) -> bool:
        """Whether only several components together show it."""
        return not (self.alone or self.partly or self.untried)


def suspect_components(cause: Regression, swaps: Sequence[Swap]) -> SuspectComponents:
    """Return which of the components bring a cause about."""
    questions = _questions(cause.pairs)
    # No mapping by swap: a witness may hold a struct, which has no hash.
    shown = [(swap, questions & _questions(swap.worse)) for swap in swaps if not swap.why_not]
    return SuspectComponents(
        tuple(swap for swap, some in shown if some == questions),
        tuple(swap for swap, some in shown if some and some != questions),
        tuple(swap for swap in swaps if swap.why_not),
    )


def _questions(pairs: Sequence[CellPair]) -> set[QuestionKey]:
    """Return the questions as the old side calls them, which all swaps have in common."""
    return {pair.old.question for pair in pairs if pair.old}
