"""Causes of worse answers that somebody has accepted, line by line. Pure.

A line is about what breaks and since what, never about a single cell: a cause that spreads to
another scenario stays accepted unless the line names its scenarios.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.comparison.cell_pairs import CellPair
from harness.comparison.regressions import NEW_WRITER, Regression, regression
from harness.comparison.verdict_change import VerdictChange
from harness.core.records import FindingKind
from harness.core.responsible import Responsible
from harness.judge.baseline.known import ReviewedLine
from harness.run import causes
from harness.run.causes import OR, CauseKey
from harness.run.load_run import Run

WRITER: Final = "writer"
"""Stands for an engine where a writer refuses a step."""
_INCONCLUSIVE: Final = (VerdictChange.UNKNOWN, VerdictChange.NEW, VerdictChange.GONE)
"""Pairs of these say nothing about an expected cause."""


@dataclass(frozen=True, slots=True)
class Acceptance(ReviewedLine):
    """One line of a file of accepted causes."""

    engine: str
    """The product that answers, or `writer`."""
    finding: FindingKind | None
    refusal: str
    """What the error means, where there is no finding."""
    operation: str
    because: str
    scenarios: tuple[str, ...] = ()
    """Those that it is about; all, where there are none."""
    party: Responsible | None = None
    """Whose doing it is; anybody's, where that is not said."""
    until: datetime.date | None = None
    """The last day on which the line counts."""
    path: str = ""
    line: int = 0

    def is_about(self, key: CauseKey) -> bool:
        """Whether it is about a cause, whatever the scenario."""
        symptom = key.symptom
        return (
            self.party in {None, symptom.party}
            and self.engine == (key.engine or WRITER)
            and self.operation == key.operation
            and self.finding is key.finding
            and (self.finding is not None or self.refusal == symptom.what)
        )

    def covers(self, scenario: str) -> bool:
        return not self.scenarios or scenario in self.scenarios

    def __str__(self) -> str:
        what = self.finding or f"refusal ({self.refusal})"
        since = f" since {self.operation}" if self.operation else ""
        return f"{self.engine}: {what}{since}"


@dataclass(frozen=True, slots=True)
class AcceptedCause:
    """What is worse, and the line by which that is accepted."""

    cause: Regression
    by: Acceptance


@dataclass(frozen=True, slots=True)
class AcceptedCauses:
    """What is accepted, and what is to be said of the lines."""

    causes: tuple[AcceptedCause, ...] = ()
    gone: tuple[Acceptance, ...] = ()
    """Lines that no longer occur: their scenarios were asked, and nothing is worse so."""
    untested: tuple[Acceptance, ...] = ()
    """Lines of which nothing was asked; nothing is said of them."""
    unreviewed: tuple[Acceptance, ...] = ()
    """Lines whose `because` is still to be written."""
    expired: tuple[Acceptance, ...] = ()
    """Lines whose date has passed; they do not count."""

    @property
    def needs_review(self) -> bool:
        """Whether somebody has to look at the lines: a gate ends with 1 as if it were worse."""
        return bool(self.gone or self.unreviewed)


NOTHING_ACCEPTED: Final = AcceptedCauses()


def accept(
    regressions: Iterable[Regression],
    pairs: Sequence[CellPair],
    lines: Iterable[Acceptance],
    new: Run,
    today: datetime.date,
) -> tuple[tuple[Regression, ...], AcceptedCauses]:
    """Return the causes that nobody has accepted, and what became of the lines.

    Of a cause that a line accepts in some scenarios only, the others remain. The first line that is
    about a pair accepts it.

    Args:
        regressions: every cause of worse answers.
        pairs: every pair of the comparison.
        lines: those of the file.
        new: the new side's run.
        today: lines whose date has passed accept nothing.

    """
    lines = tuple(lines)
    valid = [line for line in lines if line.counts(today)]
    left, accepted = list[Regression](), list[AcceptedCause]()
    for cause in regressions:
        rest = list(cause.pairs)
        for line in (line for line in valid if line.is_about(cause.key)):
            covered = [pair for pair in rest if line.covers(pair.either.scenario)]
            if covered:
                accepted.append(AcceptedCause(regression(cause.key, covered, new), line))
            rest = [pair for pair in rest if not line.covers(pair.either.scenario)]
        if rest:
            unchanged = len(rest) == len(cause.pairs)
            left.append(cause if unchanged else regression(cause.key, rest, new))
    unused = [line for line in valid if line not in {cause.by for cause in accepted}]
    tested = set(_tested(pairs, new))
    return tuple(left), AcceptedCauses(
        causes=tuple(accepted),
        gone=tuple(line for line in unused if _is_tested(line, tested)),
        untested=tuple(line for line in unused if not _is_tested(line, tested)),
        unreviewed=tuple(line for line in lines if not line.reviewed),
        expired=tuple(line for line in lines if line not in valid),
    )


_Tested = tuple[str, str, str]
"""An engine, a scenario, and an operation that the table had gone through."""


def _is_tested(line: Acceptance, tested: Iterable[_Tested]) -> bool:
    operations = line.operation.split(OR)
    return any(
        engine == line.engine
        and line.covers(scenario)
        and (operation in operations or not line.operation)
        for engine, scenario, operation in tested
    )


def _tested(pairs: Iterable[CellPair], new: Run) -> Iterator[_Tested]:
    """Yield whom both sides could have shown worse, in which scenario, and after which operation.

    A step that both writers apply is no pair. A writer is therefore tested by the steps of the
    table that some reader was asked about.
    """
    asked = {
        (new.distribution(pair.new.reader), pair.new.variant, pair.new.step, _other_table(pair))
        for pair in pairs
        if pair.new is not None and pair.change not in _INCONCLUSIVE
    }
    for distribution, variant, number, other in asked:
        info = new.variant(variant)
        operations = {info.step(step).operation for step in range(number + 1)}
        for operation in operations | ({NEW_WRITER} if other else set()):
            yield causes.engine(distribution), info.scenario, operation
            yield WRITER, info.scenario, operation


def _other_table(pair: CellPair) -> bool:
    """Return whether the new side has another table, by another writer."""
    return pair.old is not None and pair.old.variant != pair.either.variant
