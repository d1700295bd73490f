"""The cells of two runs, pair by pair: what each side answered to one question. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.comparison.correspondence import AS_NAMED, Correspondence
from harness.comparison.verdict_change import VerdictChange, change
from harness.core.records import OutcomeKind, Verdict, VerdictKind
from harness.plan import controls
from harness.run.load_run import WRITE, Run
from harness.scenario.cells import Cell

Key = tuple[str, int, str, str, str]
"""Variant, step, reader, view and query, as the new side calls them."""


def key_of(verdict: Verdict) -> Key:
    """Return the key of a cell; that of a step has no reader, whose name would be its writer's."""
    asked = verdict.view != WRITE
    reader, query = (verdict.reader, verdict.query) if asked else ("", "")
    return verdict.variant, verdict.step, reader, verdict.view, query


@dataclass(frozen=True, slots=True)
class CellPair:
    """What both sides made of one question; None where a side was not asked it."""

    old: Verdict | None
    new: Verdict | None
    change: VerdictChange

    @property
    def either(self) -> Verdict:
        """The cell of the new side; that of the old one where it is gone."""
        either = self.new or self.old
        if either is None:
            raise ValueError("a pair has a cell of one side at least")
        return either

    @property
    def is_step(self) -> bool:
        """Whether it is about what the writer did in a step, and no reader was asked."""
        return self.either.view == WRITE


def cell_pairs(old: Run, new: Run, names: Correspondence = AS_NAMED) -> tuple[CellPair, ...]:
    """Return every pair of cells of two judged runs, in the order of the new one; gone ones last.

    A step that is right on both sides is no pair: nobody was asked anything. Neither is the control
    of a reader that only one side has: the verdicts on the other cells rest on it.
    """
    before = {_name(verdict): verdict for verdict in every_verdict(old)}
    return tuple(filter(_matters, _pairs(before, new, names)))


def _pairs(before: Mapping[str, Verdict], new: Run, names: Correspondence) -> Iterator[CellPair]:
    paired = set[str]()
    for verdict in every_verdict(new):
        name = _old_name(verdict, names)
        paired.add(name)
        was = before.get(name)
        yield CellPair(was, verdict, change(was, verdict))
    gone = (verdict for name, verdict in before.items() if name not in paired)
    yield from (CellPair(verdict, None, VerdictChange.GONE) for verdict in gone)


def _matters(pair: CellPair) -> bool:
    one_side = pair.old is None or pair.new is None
    if one_side and pair.either.scenario == controls.SCENARIO:
        return False
    return not (pair.is_step and pair.change is VerdictChange.RIGHT_AS_BEFORE)


def _name(verdict: Verdict) -> str:
    """Return what tells a cell from all others; of a step, whose case has a name or none."""
    if verdict.view == WRITE:
        return _of_step(verdict.variant, verdict.step)
    return verdict.case  # a text that is there already: there may be a million


def _old_name(new: Verdict, names: Correspondence) -> str:
    """Return the name of the old side's cell with which one of the new side is compared."""
    variant = names.variants.get(new.variant, new.variant)
    if new.view == WRITE:
        return _of_step(variant, new.step)
    reader = names.readers.get(new.reader, new.reader)
    if (variant, reader) == (new.variant, new.reader):
        return new.case
    return Cell(variant, new.step, reader, new.view, new.query).case


def _of_step(variant: str, step: int) -> str:
    return f"{variant}/s{step}/{WRITE}"


def every_verdict(run: Run) -> Iterator[Verdict]:
    """Yield every verdict of a run, on its steps first; an applied step is right."""
    yield from run.step_verdicts
    judged = {(verdict.variant, verdict.step) for verdict in run.step_verdicts}
    for state in run.states:
        step = state.variant, state.outcome.step
        if state.outcome.kind is OutcomeKind.APPLIED and step not in judged:
            yield _applied(run, *step)
    yield from run.verdicts


def _applied(run: Run, variant: str, step: int) -> Verdict:
    case, scenario = _of_step(variant, step), run.variant(variant).scenario
    return Verdict(case, scenario, variant, step, "", WRITE, "", VerdictKind.CORRECT)
