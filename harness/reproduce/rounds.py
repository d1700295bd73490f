"""Candidates are written and asked about on real engines, a whole round in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from harness.cells import Cell, Plan
from harness.pipeline import Work
from harness.progress import Progress
from harness.record import VerdictKind
from harness.reports.words import counted
from harness.reproduce import runs
from harness.reproduce.candidate import Candidate
from harness.reproduce.causes import signs
from harness.reproduce.hunts import Target, Wanted
from harness.reproduce.predicted import cell_of
from harness.reproduce.script import Seen

PROFILE = "reproduce"


@dataclass(slots=True)
class Rounds:
    """The rounds of one command; states and answers are kept in the cache, so none is lost."""

    work_of: Callable[[], AbstractContextManager[Work]]
    """Gives a new run's folder and what it needs."""
    progress: Progress
    seen: dict[str, Seen] = field(default_factory=dict)
    """By the case: what was answered."""
    unknown: set[str] = field(default_factory=set)
    """Keys of candidates of which nothing came out."""

    def ask(self, wanted: Sequence[Wanted]) -> list[bool]:
        """Ask a round; a question without an answer counts as not shown."""
        cells = [_cell(each) for each in wanted]
        made = _plan(wanted, [each for each in cells if each is not None])
        if made.cells:
            number = counted(len(made.variants), "candidate")
            self.progress.note(f"a round of {number}, {counted(len(made.cells), 'question')}")
            with self.work_of() as work:
                self._run(made, work)
        return [self._shows(*each) for each in zip(wanted, cells, strict=True)]

    def _run(self, made: Plan, work: Work) -> None:
        found = runs.done(made, work)
        for cell in made.cells:
            verdict, answer = found.recorded.get(cell.case), found.answers.get(cell.case)
            if verdict is not None and answer is not None:
                states = tuple(each for each in found.states if each.variant == cell.variant)
                self.seen[cell.case] = Seen(verdict, answer, states)

    def _shows(self, wanted: Wanted, cell: Cell | None) -> bool:
        if cell is None:
            return False
        seen = self.seen.get(cell.case)
        if seen is None or seen.verdict.verdict is VerdictKind.UNKNOWN:
            self.unknown.add(wanted.candidate.key)
            return False
        return wanted.target.sign.among(signs(seen.verdict, seen.answer))

    def of(self, target: Target, candidate: Candidate) -> Seen:
        """Give what was seen of a candidate that showed something."""
        cell = _cell(Wanted(target, candidate))
        return self.seen[cell.case if cell else ""]


def _cell(wanted: Wanted) -> Cell | None:
    target = wanted.target
    return cell_of(wanted.candidate, str(target.reader), target.cause.view, target.shape)


def _plan(wanted: Sequence[Wanted], cells: Sequence[Cell]) -> Plan:
    """Give the plan of a round; a candidate that several searches want is written once."""
    variants = {each.candidate.key: each.candidate.variant for each in wanted}
    asked = {cell.variant for cell in cells}
    return Plan(
        PROFILE,
        tuple(each for each in variants.values() if each.id in asked),
        tuple({str(each.target.reader): each.target.reader for each in wanted}.values()),
        tuple({cell.case: cell for cell in cells}.values()),
    )
