"""All that a comparison of two sides found: what reports arrange. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.comparison import answer
from harness.comparison.answer import Decision
from harness.comparison.cell_pairs import CellPair, counts, pairs
from harness.comparison.correspondence import correspondence
from harness.comparison.guilt import Swap
from harness.comparison.regressions import Regression, regressions
from harness.comparison.remedies import Remedy, whole
from harness.comparison.verdict_change import WORSE, VerdictChange
from harness.core.records import VerdictKind
from harness.run.load_run import Run


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """A side as people call it, and its run."""

    name: str
    run: Run


@dataclass(frozen=True, slots=True)
class SideComparison:
    """What changed from one side to the other."""

    old: ComparedSide
    new: ComparedSide
    pairs: tuple[CellPair, ...]
    regressions: tuple[Regression, ...]
    remedies: tuple[Remedy, ...] = ()
    """Those that help, the best first."""
    swaps: tuple[Swap, ...] = ()
    """The components in which the sides differ, each swapped alone; none where it is one."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """By the name of a cause that is known and accepted: why."""

    @property
    def counts(self) -> Mapping[VerdictChange, int]:
        """Return the number of pairs of each class."""
        return counts(self.pairs)

    @property
    def decision(self) -> Decision:
        """Return what to do."""
        return answer.decide(self.counts, self.remedy)

    @property
    def status(self) -> int:
        """Return the exit status."""
        return answer.status(self.counts)

    @property
    def worse(self) -> tuple[CellPair, ...]:
        """Return the pairs that speak against the new side."""
        return tuple(each for each in self.pairs if each.change in WORSE)

    @property
    def remedy(self) -> Remedy | None:
        """Return the settings with which nothing is worse, and all that is right stays so."""
        return whole([each.either.question for each in self.worse], self.remedies)

    def of(self, change: VerdictChange) -> tuple[CellPair, ...]:
        """Return the pairs of a class."""
        return tuple(each for each in self.pairs if each.change is change)

    @property
    def wrong_today(self) -> tuple[CellPair, ...]:
        """Return the pairs that are wrong on the old side: they never read as safe."""
        return tuple(
            each
            for each in self.pairs
            if each.old is not None and each.old.verdict is VerdictKind.WRONG
        )


def compare(
    old: ComparedSide, new: ComparedSide, readers: Mapping[str, str] | None = None
) -> SideComparison:
    """Compare two judged runs.

    `readers`: which of the old side's each of the new side's is; None: what names tell.
    """
    alike = correspondence(old.run.info, new.run.info)
    alike = alike if readers is None else replace(alike, readers=readers)
    found = pairs(old.run, new.run, alike)
    return SideComparison(old, new, found, regressions(found, new.run))
