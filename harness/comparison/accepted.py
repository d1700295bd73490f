"""Causes of worse answers that somebody has accepted, line by line. Pure.

A line is about what breaks and since what, never about a single cell: a cause that spreads to
another scenario stays accepted unless the line names its scenarios.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Sequence
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
_SILENT: Final = (VerdictChange.UNKNOWN, VerdictChange.NEW, VerdictChange.GONE)
"""Pairs of these tell nothing of a cause that one expects."""


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

    def is_asked(self, scenario: str) -> bool:
        """Whether it is about a scenario."""
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
    idle: tuple[Acceptance, ...] = ()
    """Lines of which nothing was asked; nothing is said of them."""
    unreviewed: tuple[Acceptance, ...] = ()
    """Lines whose `because` is still to be written."""
    expired: tuple[Acceptance, ...] = ()
    """Lines whose date has passed; they do not count."""

    @property
    def unsettled(self) -> bool:
        """Whether somebody has to look at the lines: a gate ends with 1 as if it were worse."""
        return bool(self.gone or self.unreviewed)


NOTHING: Final = AcceptedCauses()


def apply(
    found: Iterable[Regression],
    pairs: Sequence[CellPair],
    lines: Iterable[Acceptance],
    new: Run,
    today: datetime.date,
) -> tuple[tuple[Regression, ...], AcceptedCauses]:
    """Return the causes that nobody has accepted, and what became of the lines.

    Of a cause that a line accepts in some scenarios only, the others remain. The first line that is
    about a pair accepts it.

    Args:
        found: every cause of worse answers.
        pairs: every pair of the comparison.
        lines: those of the file.
        new: the new side's run.
        today: lines whose date has passed accept nothing.

    """
    every = tuple(lines)
    counted = tuple(each for each in every if each.counts(today))
    left, taken = list[Regression](), list[AcceptedCause]()
    for cause in found:
        pairs_left = list(cause.pairs)
        for line in (each for each in counted if each.is_about(cause.key)):
            mine = [each for each in pairs_left if line.is_asked(each.either.scenario)]
            if mine:
                taken.append(AcceptedCause(regression(cause.key, mine, new), line))
            pairs_left = [each for each in pairs_left if not line.is_asked(each.either.scenario)]
        if len(pairs_left) == len(cause.pairs):
            left.append(cause)
        elif pairs_left:
            left.append(regression(cause.key, pairs_left, new))
    return tuple(left), _said(every, counted, taken, set(_asked(pairs, new)))


_Asked = tuple[str, str, str]
"""An engine, a scenario, and an operation that the table had gone through."""


def _said(
    every: Iterable[Acceptance],
    counted: Iterable[Acceptance],
    taken: Sequence[AcceptedCause],
    asked: Collection[_Asked],
) -> AcceptedCauses:
    used = {each.by for each in taken}
    idle = [each for each in counted if each not in used and not _tried(each, asked)]
    gone = [each for each in counted if each not in used and each not in idle]
    unreviewed = [each for each in every if not each.reviewed]
    expired = [each for each in every if each not in counted]
    return AcceptedCauses(tuple(taken), tuple(gone), tuple(idle), tuple(unreviewed), tuple(expired))


def _tried(line: Acceptance, asked: Iterable[_Asked]) -> bool:
    operations = line.operation.split(OR)
    return any(
        engine == line.engine
        and line.is_asked(scenario)
        and (operation in operations or not line.operation)
        for engine, scenario, operation in asked
    )


def _asked(pairs: Iterable[CellPair], new: Run) -> Iterator[_Asked]:
    """Yield whom both sides could have shown worse, in which scenario, and after which operation.

    A step that both writers apply is no pair. A writer is therefore tried by the steps of the table
    that some reader was asked about.
    """
    seen = {
        (new.distribution(each.new.reader), each.new.variant, each.new.step, _other_table(each))
        for each in pairs
        if each.new is not None and each.change not in _SILENT
    }
    for distribution, variant, number, other in seen:
        info = new.variant(variant)
        done = {info.step(each).operation for each in range(number + 1)}
        for operation in done | ({NEW_WRITER} if other else set()):
            yield causes.engine(distribution), info.scenario, operation
            yield WRITER, info.scenario, operation


def _other_table(pair: CellPair) -> bool:
    """Return whether the new side has another table, by another writer."""
    return pair.old is not None and pair.old.variant != pair.either.variant
