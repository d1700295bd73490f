"""The judge: answers against the truth. Pure: everything comes from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.core import refusals, tolerances
from harness.core.records import Answer, Outcome, OutcomeKind, Refusal, Verdict, VerdictKind
from harness.judge import attribution, understand
from harness.judge.expectations import READ_OPTIMIZED, Case, Histories, shows
from harness.judge.file_evidence import Layout
from harness.model import past_views
from harness.scenario.cells import Cell


def judge(case: Case, cells: Sequence[Cell], answers: Mapping[str, Answer]) -> tuple[Verdict, ...]:
    """Return a verdict for every cell of a variant whose step was not skipped.

    There is none either where nothing could be asked, since a refused step left out its column or
    the table's first write.
    A step that the writer refused, or of which nothing is known, gets a verdict of its own.
    """
    return attribution.settled(alone(case, cells, answers), answers)


def alone(case: Case, cells: Sequence[Cell], answers: Mapping[str, Answer]) -> tuple[Verdict, ...]:
    """Return the same verdicts as far as each answer tells by itself, before `party.settled`."""
    histories = Histories(case)
    outcomes = histories.outcomes
    verdicts = [_of_step(case, outcome) for outcome in outcomes.values() if _failed(outcome)]
    for cell in cells:
        answer = answers.get(cell.case)
        if not _left_out(cell, histories, answer):
            shown_by = histories.shown_by(cell.reader, answer)
            verdicts.append(_of_cell(cell, case, shown_by, answer))
    return tuple(verdicts)


def kind(cell: Cell, case: Case, histories: Histories, answer: Answer) -> VerdictKind | None:
    """Return the kind of the verdict that `alone` gives a cell; None where it gives none.

    What is wrong is not named, which is most of the work. `histories`: those of the case.
    """
    if _left_out(cell, histories, answer):
        return None
    shown_by = histories.shown_by(cell.reader, answer)
    asked = _asked(cell, case, shown_by, answer)
    if asked.because:
        return asked.verdict
    if answer.refusal is not None:
        return VerdictKind.REFUSED
    taken = understood(cell, case, shown_by, answer)
    wrong = shown_by.differs(cell.step, shows(cell.view), taken)
    return VerdictKind.WRONG if wrong else VerdictKind.CORRECT


def _left_out(cell: Cell, histories: Histories, answer: Answer | None) -> bool:
    outcomes = histories.outcomes
    fell_away = answer is not None and _fell_away(cell, answer, histories)
    incomplete = fell_away and _incomplete(outcomes, cell.step)
    return _skipped(outcomes.get(cell.step)) or incomplete


def _skipped(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.SKIPPED


def _fell_away(cell: Cell, answer: Answer, histories: Histories) -> bool:
    """Return whether there was nothing to ask; older records call a view not made yet unknown."""
    if not answer.unknown:
        return bool(answer.void) and not answer.probe
    absent = histories.merge_on_read and answer.unknown == past_views.no_entry(cell.view)
    return absent and past_views.unmade(cell.view, histories.until(cell.step))


def _incomplete(outcomes: Mapping[int, Outcome], step: int) -> bool:
    """Return whether some step so far was refused: else the plan's columns are all there."""
    return any(_skipped(each) or _failed(each) for at, each in outcomes.items() if at <= step)


def _failed(outcome: Outcome) -> bool:
    return outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.UNKNOWN}


def _of_step(case: Case, outcome: Outcome) -> Verdict:
    refused = outcome.kind is OutcomeKind.REFUSED
    cell = Cell(case.variant.id, outcome.step, case.variant.writers[outcome.step], "write", "step")
    why = refusals.text(outcome.refusal) if outcome.refusal else outcome.because
    kind = VerdictKind.REFUSED if refused else VerdictKind.UNKNOWN
    return replace(_blank(cell, case, kind), because=why, sql="; ".join(outcome.statements))


def _blank(cell: Cell, case: Case, kind: VerdictKind) -> Verdict:
    return Verdict(
        case=cell.case,
        scenario=case.variant.scenario.name,
        variant=cell.variant,
        step=cell.step,
        reader=cell.reader,
        view=cell.view,
        query=cell.query,
        verdict=kind,
    )


def _asked(cell: Cell, case: Case, histories: Histories, answer: Answer | None) -> Verdict:
    """Return the verdict as far as no content is looked at: it stands where it says why."""
    blank = _blank(cell, case, VerdictKind.UNKNOWN)
    if histories.broken is not None and cell.step >= histories.broken:
        return replace(blank, because=f"nothing is known of the table after step {cell.step}")
    if answer is None:
        return replace(blank, because="did not run")
    asked = replace(blank, sql=answer.sql, seconds=answer.seconds, reused=answer.reused)
    if why := case.limit(cell.reader, case.variant.format, _version(cell, histories)):
        if _refused(answer):
            return replace(asked, verdict=VerdictKind.UNSUPPORTED, because=why)
        asked = replace(asked, disclaimed=why if answer.has_rows else "")
    if answer.unknown or answer.void:
        return replace(asked, because=answer.unknown or answer.void)
    if cell.view == READ_OPTIMIZED and (why := histories.base(cell.step).why):
        return replace(asked, because=f"layout: {why}")
    return asked


def understood(cell: Cell, case: Case, histories: Histories, answer: Answer) -> Answer:
    """Return the answer as its product can have understood it: what is judged and explained.

    `histories`: those that the reader can show (`Histories.shown_by`).
    """
    answer = histories.asked(answer)
    expected = histories.expected(cell.step, shows(cell.view), answer.question)
    declared = tolerances.about(cell.reader, case.variant.format)
    return understand.taken(answer, dict(expected.columns), declared)


def _of_cell(cell: Cell, case: Case, histories: Histories, answer: Answer | None) -> Verdict:
    asked = _asked(cell, case, histories, answer)
    if asked.because or answer is None:
        return asked
    view, answer = shows(cell.view), understood(cell, case, histories, answer)
    told = histories.told(cell.step, view, answer)
    kind, because = VerdictKind.WRONG if told.findings else VerdictKind.CORRECT, told.doubt
    if answer.refusal is not None:
        kind = VerdictKind.REFUSED
        because = _why_refused(answer.refusal, histories.layout(cell.step, view))
    return replace(
        asked,
        verdict=kind,
        findings=told.findings,
        reproduces=told.ways,
        scant=told.scant,
        because=because,
        expected=histories.expected(cell.step, view, answer.question),
        normalised=histories.normalised(cell.step, view, answer),
    )


def _version(cell: Cell, histories: Histories) -> str:
    state = histories.states.get(cell.step)
    return state.table_version if state else ""


def _refused(answer: Answer) -> bool:
    """Return whether all of a question was refused, or the one that was sent in its stead."""
    return bool(answer.probe) or (answer.refusal is not None and not answer.has_rows)


def _why_refused(refusal: Refusal, layout: Layout) -> str:
    because = refusals.meaning(refusal)
    if because == refusals.OTHER_TYPE and (way := layout.clash()):
        return f"read {way}: {because}"
    return because
