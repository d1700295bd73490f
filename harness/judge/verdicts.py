"""The judge: answers against the truth, stage by stage. Pure: everything comes from records."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.core import refusals, tolerances
from harness.core.records import (
    Answer,
    Finding,
    Outcome,
    OutcomeKind,
    Refusal,
    Verdict,
    VerdictKind,
)
from harness.judge import answer_texts, compare, expectations, gate
from harness.judge.attribute import attribute
from harness.judge.case import READ_OPTIMIZED, Case, view_of_rows
from harness.judge.file_evidence import Layout
from harness.judge.name import name
from harness.judge.order_dependence import with_order
from harness.judge.settle import settle
from harness.judge.standard import Standard, Standards
from harness.judge.strategies import match_strategies
from harness.judge.trace import trace
from harness.judge.understand import evened_out, understand
from harness.model import past_views
from harness.scenario.cells import Cell

LOG: Final = logging.getLogger("harness.judge")


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one answer tells, whoever else was asked."""

    findings: tuple[Finding, ...]
    ways: tuple[str, ...]
    """The ways of reading that reproduce it."""
    doubt: str = ""
    """How the files are not as the truth says, or tell nothing, where something is wrong."""


def judge(case: Case, cells: Sequence[Cell], answers: Mapping[str, Answer]) -> tuple[Verdict, ...]:
    """Return a verdict for every cell of a variant whose step was not skipped.

    There is none either where nothing could be asked, since a refused step left out its column or
    the table's first write.
    A step that the writer refused, or of which nothing is known, gets a verdict of its own.
    """
    return settle(judge_alone(case, cells, answers), answers)


def judge_alone(
    case: Case, cells: Sequence[Cell], answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return the same verdicts as far as each answer tells by itself, before `settle`."""
    judged = JudgedVariant(case)
    verdicts = [_of_step(case, each) for each in case.outcomes.values() if _failed(each)]
    for cell in cells:
        answer = answers.get(cell.case)
        if not _left_out(cell, case, answer):
            verdicts.append(judged.verdict(cell, answer))
    return tuple(verdicts)


def assess(answer: Answer, standard: Standard, step: int, view: str) -> Assessment:
    """Judge the content of one answer: each stage takes what those before it made.

    `answer`: as `understand` returns it.
    """
    world = standard.expectations.world(step, view)
    layout = standard.evidence.layout(step, view)
    agreement = standard.evidence.agreement(step, view)
    strategies = match_strategies(answer, layout)
    comparison = compare.compare(answer, world, strategies, agreement, cuts=standard.cuts)
    places = trace(comparison, answer, layout)
    whole = answer.refusal is None
    seen = world.narrowed(answer.question) if whole else world
    findings = attribute(name(places, seen), comparison, agreement, seen)
    return Assessment(findings, strategies.ways, layout.doubt() if findings and whole else "")


class JudgedVariant:
    """A variant whose answers are judged one by one; readers of one table often give the same."""

    def __init__(self, case: Case) -> None:
        """Work out the truth of the variant."""
        self.case = case
        self._standards = Standards(case)
        self._assessments: dict[Hashable, Assessment] = {}
        self._differs: dict[Hashable, bool] = {}

    def verdict(self, cell: Cell, answer: Answer | None) -> Verdict:
        """Return the verdict on the answer to a cell as far as it tells by itself.

        A check that fails makes it unknown, and says nothing of any other cell.
        """
        try:
            return self._verdict(cell, answer)
        except Exception as problem:
            LOG.exception("cannot judge %s", cell.case)
            why = f"{gate.BROKEN}{type(problem).__name__}: {problem}"
            return replace(_blank(cell, self.case, VerdictKind.UNKNOWN), because=why)

    def kind(self, cell: Cell, answer: Answer) -> VerdictKind | None:
        """Return the kind of that verdict; None where there is none.

        What is wrong is not named, which is most of the work.
        """
        if _left_out(cell, self.case, answer):
            return None
        standard = self._standards.of(cell.reader, answer)
        unjudged = _unjudged(cell, standard, answer)
        if unjudged.because:
            return unjudged.verdict
        if answer.earlier is not None:
            return VerdictKind.WRONG
        if answer.refusal is not None:
            return VerdictKind.REFUSED
        understood = understand_cell(cell, standard, answer)
        same = cell.step, view_of_rows(cell.view), *_content(standard, understood)
        if same not in self._differs:
            world = standard.expectations.world(cell.step, view_of_rows(cell.view))
            self._differs[same] = compare.differs(understood, world)
        return VerdictKind.WRONG if self._differs[same] else VerdictKind.CORRECT

    def _verdict(self, cell: Cell, answer: Answer | None) -> Verdict:
        standard = self._standards.of(cell.reader, answer)
        unjudged = _unjudged(cell, standard, answer)
        if unjudged.because or answer is None:
            return unjudged
        understood = understand_cell(cell, standard, answer)
        assessment = self._assessment(cell, standard, understood)
        verdict = _with(assessment, unjudged, cell, standard, understood)
        return with_order(verdict, answer, standard.expectations.history[0].table.key)

    def _assessment(self, cell: Cell, standard: Standard, answer: Answer) -> Assessment:
        view = view_of_rows(cell.view)
        same = cell.step, view, *_content(standard, answer)
        if same not in self._assessments:
            self._assessments[same] = assess(answer, standard, cell.step, view)
        return self._assessments[same]


def understand_cell(cell: Cell, standard: Standard, answer: Answer) -> Answer:
    """Return the answer to a cell as its product can have understood it, to be judged by it."""
    world = standard.expectations.world(cell.step, view_of_rows(cell.view))
    types = dict(expectations.column_types(world.schema, answer.question))
    declared = tolerances.about(cell.reader, standard.case.variant.format)
    return understand(answer, types, declared, cuts=standard.cuts)


def _content(standard: Standard, answer: Answer) -> tuple[Hashable, ...]:
    return standard.cuts, answer.question, answer_texts.content(answer)


def _with(
    assessment: Assessment, verdict: Verdict, cell: Cell, standard: Standard, answer: Answer
) -> Verdict:
    """Return the verdict with what the answer tells."""
    view, found = view_of_rows(cell.view), standard.expectations
    key = found.history[0].table.key
    whole = standard.written
    written = whole.expectations.world(cell.step, view).rows if whole else None
    kind, because = VerdictKind.CORRECT, assessment.doubt
    if answer.refusal is not None:
        kind = VerdictKind.REFUSED
        because = _why_refused(answer.refusal, standard.evidence.layout(cell.step, view))
    elif assessment.findings:
        kind = VerdictKind.WRONG
    return replace(
        verdict,
        verdict=kind,
        findings=answer_texts.quoted(assessment.findings, answer, key),
        reproduces=assessment.ways,
        scant=answer.refusal is None and answer.scant,
        because=because,
        expected=found.table(cell.step, view, answer.question),
        normalised=evened_out(answer, found.world(cell.step, view), written),
    )


def _unjudged(cell: Cell, standard: Standard, answer: Answer | None) -> Verdict:
    """Return the verdict as far as no content is looked at: it stands where it says why."""
    case = standard.case
    blank = _blank(cell, case, VerdictKind.UNKNOWN)
    if case.broken is not None and cell.step >= case.broken:
        return replace(blank, because=f"nothing is known of the table after step {cell.step}")
    if answer is None:
        return replace(blank, because="did not run")
    asked = replace(blank, sql=answer.sql, seconds=answer.seconds, reused=answer.reused)
    if why := case.limit(cell.reader, case.variant.format, _version(cell, case)):
        if _refused(answer):
            return replace(asked, verdict=VerdictKind.UNSUPPORTED, because=why)
        asked = replace(asked, disclaimed=why if answer.has_rows else "")
    if answer.unknown or answer.void:
        return replace(asked, because=answer.unknown or answer.void)
    if cell.view == READ_OPTIMIZED and (why := standard.expectations.layout_problem(cell.step)):
        return replace(asked, because=f"layout: {why}")
    return asked


def _left_out(cell: Cell, case: Case, answer: Answer | None) -> bool:
    fell_away = answer is not None and _fell_away(cell, answer, case)
    incomplete = fell_away and _incomplete(case.outcomes, cell.step)
    return _skipped(case.outcomes.get(cell.step)) or incomplete


def _skipped(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.SKIPPED


def _failed(outcome: Outcome) -> bool:
    return outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.UNKNOWN}


def _incomplete(outcomes: Mapping[int, Outcome], step: int) -> bool:
    """Return whether some step so far was refused: else the plan's columns are all there."""
    return any(_skipped(each) or _failed(each) for at, each in outcomes.items() if at <= step)


def _fell_away(cell: Cell, answer: Answer, case: Case) -> bool:
    """Return whether there was nothing to ask; older records call a view not made yet unknown."""
    if not answer.unknown:
        return bool(answer.void) and not answer.probe
    absent = case.merge_on_read and answer.unknown == past_views.no_entry(cell.view)
    return absent and past_views.unmade(cell.view, case.history[: cell.step + 1])


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


def _version(cell: Cell, case: Case) -> str:
    state = case.state_of.get(cell.step)
    return state.table_version if state else ""


def _refused(answer: Answer) -> bool:
    """Return whether all of a question was refused, or the one that was sent in its stead."""
    return bool(answer.probe) or (answer.refusal is not None and not answer.has_rows)


def _why_refused(refusal: Refusal, layout: Layout) -> str:
    because = refusals.meaning(refusal)
    if because == refusals.OTHER_TYPE and (way := layout.clash()):
        return f"read {way}: {because}"
    return because
