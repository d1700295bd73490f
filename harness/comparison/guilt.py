"""Which component of the new side brings it about that answers are worse. Pure.

Each component is swapped alone; the one that shows all of a cause by itself is to blame. Where none
does, and each was tried, only several of them together do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.comparison.cell_pairs import CellPair
from harness.comparison.regressions import Regression
from harness.core.records import QuestionKey


@dataclass(frozen=True, slots=True)
class Swap:
    """The old side with one component of the new one, held against the old side."""

    component: str
    old: str
    new: str
    worse: tuple[CellPair, ...] = ()
    why_not: str = ""
    """Why it could not be tried; else empty."""

    def __str__(self) -> str:
        return f"{self.component} {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class Guilt:
    """What is known of whose doing a cause is."""

    alone: tuple[Swap, ...] = ()
    """Each of these shows all of it by itself."""
    partly: tuple[Swap, ...] = ()
    """Each of these shows some of it."""
    untried: tuple[Swap, ...] = ()

    @property
    def together(self) -> bool:
        """Whether only several components together show it."""
        return not (self.alone or self.partly or self.untried)


def guilt(found: Regression, swaps: Sequence[Swap]) -> Guilt:
    """Return which of the components bring a cause about."""
    wanted = set(_questions(found.pairs))
    tried = (each for each in swaps if not each.why_not)
    # No mapping by swap: a witness may hold a struct, which has no hash.
    shown = [(each, wanted & set(_questions(each.worse))) for each in tried]
    return Guilt(
        tuple(each for each, some in shown if some == wanted),
        tuple(each for each, some in shown if some and some != wanted),
        tuple(each for each in swaps if each.why_not),
    )


def _questions(pairs: Sequence[CellPair]) -> Iterator[QuestionKey]:
    """Yield the questions as the old side calls them, which all swaps have in common."""
    yield from (each.old.question for each in pairs if each.old)
