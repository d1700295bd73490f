"""All that a comparison of two sides found: what reports arrange. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from harness.comparison import answer
from harness.comparison.accepted import NOTHING, Acceptance, AcceptedCauses, apply
from harness.comparison.answer import Coverage, Decision
from harness.comparison.cell_pairs import CellPair, counts, pairs
from harness.comparison.correspondence import correspondence
from harness.comparison.guilt import Swap
from harness.comparison.own_tables import MetBy, met_by, not_covered
from harness.comparison.regressions import Regression, regressions
from harness.comparison.remedies import Remedy, whole
from harness.comparison.verdict_change import AS_BEFORE, BETTER, WORSE, VerdictChange
from harness.core.records import Verdict, VerdictKind
from harness.judge.gate import NEW
from harness.run import frames
from harness.run.causes import CauseKey
from harness.run.frames import FrameColumn
from harness.run.load_run import Run, findings_text
from harness.usage.used_tables import Usage

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """A side as people call it, and its run."""

    name: str
    run: Run


@dataclass(frozen=True)  # no slots: what is derived is kept
class SideComparison:
    """What changed from one side to the other."""

    old: ComparedSide
    new: ComparedSide
    pairs: tuple[CellPair, ...]
    regressions: tuple[Regression, ...]
    """The causes of what is worse, but for those that are accepted."""
    remedies: tuple[Remedy, ...] = ()
    """Those that help, the best first."""
    swaps: tuple[Swap, ...] = ()
    """The components in which the sides differ, each swapped alone; none where it is one."""
    usage: Usage | None = None
    """What somebody's own tables are like; None where nobody said."""
    accepted: AcceptedCauses = NOTHING

    def accepting(self, lines: Iterable[Acceptance], today: datetime.date) -> SideComparison:
        """Return the same with what somebody has accepted."""
        causes, found = apply(self.regressions, self.pairs, lines, self.new.run, today)
        return replace(self, regressions=causes, accepted=found)

    @cached_property
    def met(self) -> Mapping[CauseKey, MetBy]:
        """Return which tables can meet each cause; nothing where no usage is known."""
        if self.usage is None:
            return {}
        return {each.key: met_by(each, self.new.run, self.usage) for each in self.regressions}

    @cached_property
    def not_covered(self) -> Mapping[str, str]:
        """Return the tables that are like none that was asked about, each with the reason."""
        return not_covered(self.new.run, self.usage) if self.usage else {}

    @cached_property
    def relevant(self) -> tuple[Regression, ...]:
        """Return the causes that count: with a usage, those that a table can meet."""
        return tuple(each for each in self.regressions if not self.met or self.met[each.key])

    @cached_property
    def counts(self) -> Mapping[VerdictChange, int]:
        """Return the number of pairs of each class."""
        return counts(self.pairs)

    @property
    def known(self) -> Coverage:
        """Return how much is known of both sides, and of the tables that somebody has.

        What is worse and accepted is a change.
        """
        unknown = self.counts[VerdictChange.UNKNOWN] + len(self.not_covered)
        changed = (*BETTER, VerdictChange.NEW, VerdictChange.GONE)
        asked = sum(self.counts[each] for each in (*AS_BEFORE, *BETTER, *WORSE))
        better = sum(self.counts[each] for each in changed)
        return Coverage(asked, unknown, better + len(self.worse_accepted))

    @property
    def decision(self) -> Decision:
        """Return what to do."""
        return answer.decide(self.known, worse=len(self.worse), remedy=self.remedy)

    @property
    def status(self) -> int:
        """Return the exit status."""
        found = answer.status(self.known, worse=len(self.worse))
        return max(found, NEW) if self.accepted.unsettled else found

    @cached_property
    def worse(self) -> tuple[CellPair, ...]:
        """Return the pairs that speak against the new side."""
        if self.usage is None:
            cases = self._accepted_cases
            worse = (each for each in self.pairs if each.change in WORSE)
            return tuple(each for each in worse if each.either.case not in cases)
        found = {id(pair): pair for each in self.relevant for pair in each.pairs}
        return tuple(found.values())

    @cached_property
    def worse_accepted(self) -> tuple[CellPair, ...]:
        """Return the pairs that are worse by accepted causes alone."""
        cases = self._accepted_cases
        return tuple(each for each in self.pairs if each.either.case in cases)

    @cached_property
    def _accepted_cases(self) -> frozenset[str]:
        taken = frozenset(p.either.case for each in self.accepted.causes for p in each.cause.pairs)
        return taken - {pair.either.case for each in self.regressions for pair in each.pairs}

    @property
    def remedy(self) -> Remedy | None:
        """Return the settings with which nothing is worse, and all that is right stays so."""
        return whole([each.either.question for each in self.worse], self.remedies)

    def of(self, change: VerdictChange) -> tuple[CellPair, ...]:
        """Return the pairs of a class."""
        return tuple(each for each in self.pairs if each.change is change)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each pair, and a type for each column."""
        return frames.frame(self.pairs, _FRAME)

    @property
    def wrong_today(self) -> tuple[CellPair, ...]:
        """Return the pairs that are wrong on the old side: they never read as safe."""
        return tuple(
            each
            for each in self.pairs
            if each.old is not None and each.old.verdict is VerdictKind.WRONG
        )


_Column = FrameColumn[CellPair]
_FRAME: Final[Mapping[str, _Column]] = {
    "case": FrameColumn(frames.TEXT, lambda pair: pair.either.case),
    "scenario": FrameColumn(frames.WORD, lambda pair: pair.either.scenario),
    "variant": FrameColumn(frames.WORD, lambda pair: pair.either.variant),
    "step": FrameColumn(frames.NUMBER, lambda pair: pair.either.step),
    "view": FrameColumn(frames.WORD, lambda pair: pair.either.view),
    "query": FrameColumn(frames.WORD, lambda pair: pair.either.query),
    "change": FrameColumn(tuple(VerdictChange), lambda pair: pair.change),
    "worse": FrameColumn(frames.FLAG, lambda pair: pair.change in WORSE),
    "old_reader": FrameColumn(frames.WORD, lambda pair: pair.old.reader if pair.old else ""),
    "new_reader": FrameColumn(frames.WORD, lambda pair: pair.new.reader if pair.new else ""),
    "old_verdict": FrameColumn(tuple(VerdictKind), lambda pair: pair.old and pair.old.verdict),
    "new_verdict": FrameColumn(tuple(VerdictKind), lambda pair: pair.new and pair.new.verdict),
    "old_findings": FrameColumn(frames.WORD, lambda pair: _findings(pair.old)),
    "new_findings": FrameColumn(frames.WORD, lambda pair: _findings(pair.new)),
}
"""The columns of `SideComparison.to_frame`."""


def _findings(verdict: Verdict | None) -> str:
    return findings_text(verdict) if verdict else ""


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
