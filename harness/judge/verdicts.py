"""The judge: answers against the truth, stage by stage. Pure: everything comes from records."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from harness.core import refusals, tolerances
from harness.core.records import (
    HALF_DONE,
    JUDGE_FAILED,
    Answer,
    Finding,
    Outcome,
    OutcomeKind,
    Reason,
    Refusal,
    Verdict,
    VerdictKind,
)
from harness.judge import answer_texts, compare, recorded_metadata, recorded_schema
from harness.judge.attribute import HiddenFromReaders, attribute
from harness.judge.expectations import Expectations, ExpectationsByEngine
from harness.judge.expected_state import ExpectedState
from harness.judge.file_evidence import Layout
from harness.judge.final_attribution import with_final_attribution
from harness.judge.name import name
from harness.judge.order_dependence import with_order
from harness.judge.recorded_variant import READ_OPTIMIZED, RecordedVariant, view_of_rows
from harness.judge.strategies import match_strategies
from harness.judge.trace import trace
from harness.judge.understand import evened_out, understand
from harness.model import past_views
from harness.model.canonical import has_unsettled
from harness.scenario.cells import Cell

LOG: Final = logging.getLogger("harness.judge")


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one answer tells, whoever else was asked."""

    findings: tuple[Finding, ...]
    names: tuple[str, ...]
    """The ways of reading that reproduce it."""
    doubt: str = ""
    """How the files are not as the truth says, or tell nothing, where something is wrong."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is judged of an answer, and what it is held against.

    Readers of one table often give the same: two are equal where all that is judged of them is.
    """

    step: int
    view: str
    """The view whose rows the one that was asked shows."""
    judged: Hashable
    expectations: Expectations = field(compare=False)
    answer: Answer = field(compare=False)
    """As `understand` returns it."""

    @property
    def state(self) -> ExpectedState:
        """What it should show: the rows that are asked for; all, for columns asked alone."""
        if self.answer.refusal is not None:
            return self.expectations.state(self.step, self.view)
        return self.expectations.asked(self.step, self.view, self.answer.question)


def judge(
    case: RecordedVariant, cells: Sequence[Cell], answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return a verdict for every cell of a variant whose step was not skipped.

    There is none either where nothing could be asked, since a refused step left out its column or
    the table's first write, or a half-done one its entry in the catalog.
    A step gets a verdict of its own where the writer refused it, where nothing is known of it, or
    where what the table itself says of its schema is wrong since.
    """
    return with_final_attribution(judge_alone(case, cells, answers), answers)


def judge_alone(
    case: RecordedVariant, cells: Sequence[Cell], answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return the same verdicts as far as each answer tells by itself."""
    judged = JudgedVariant(case)
    of_cells = (judged.judge(cell, answers.get(cell.case)) for cell in cells)
    return (*of_steps(case), *filter(None, of_cells))


def of_steps(case: RecordedVariant) -> Iterator[Verdict]:
    """Yield the verdicts on steps themselves."""
    schemas, metadata = recorded_schema.findings(case), recorded_metadata.findings(case)
    wrong = {s: (*schemas.get(s, ()), *metadata.get(s, ())) for s in (*schemas, *metadata)}
    for step, outcome in case.outcomes.items():
        if _has_verdict(outcome) or step in wrong:
            yield _of_step(case, outcome, wrong.get(step, ()))


def assess(content: Content) -> Assessment:
    """Judge the content of one answer: each stage takes what those before it made."""
    answer, state, expectations = content.answer, content.state, content.expectations
    layout = expectations.layout(content.step, content.view)
    agreement = expectations.agreement(content.step, content.view)
    strategies = match_strategies(answer, layout)
    if strategies.catalog is not None:
        state = replace(state, catalog=strategies.catalog)
    comparison = compare.compare(
        answer, state, strategies, agreement, truncated=expectations.truncated
    )
    named = name(trace(comparison, answer, layout), state)
    findings = attribute(named, comparison, agreement, state, _hidden_from_readers(content))
    doubted = findings and answer.refusal is None
    return Assessment(findings, strategies.names, layout.doubt() if doubted else "")


def _hidden_from_readers(content: Content) -> HiddenFromReaders:
    """Return what the writer may have kept from whoever asks such a question."""
    query, case = content.answer.question, content.expectations.case
    layout = content.expectations.layout(content.step, content.view)
    unknown = bool(query.conditions and case.state_of[content.step].statistics.unknown)
    now = case.past(content.view, content.step) is None
    return HiddenFromReaders(
        case.unlisted(content.step),
        layout.excluded(query),
        unknown,
        case.catalog(content.step) if now else frozenset(),
        case.outdated_types(content.step) if now else {},
        case.mistaken_for(content.step) if now else {},
        case.lost(content.step) if now else {},
        frozenset(path.partition(".")[0].lower() for path in query.filters),
    )


class JudgedVariant:
    """A variant whose answers are judged one by one, those of one content once."""

    def __init__(self, case: RecordedVariant) -> None:
        """Work out the truth of the variant."""
        self.case = case
        self._expectations = ExpectationsByEngine(case)
        self._assess = cache(assess)

    def judge(self, cell: Cell, answer: Answer | None) -> Verdict | None:
        """Return the verdict on the answer to a cell as far as it tells by itself.

        None where nothing could be asked. A check that fails makes it unknown, and says nothing of
        any other cell.
        """
        if _left_out(cell, self.case, answer):
            return None
        try:
            return self._verdict(cell, answer)
        except Exception as problem:
            LOG.exception("cannot judge %s", cell.case)
            why = f"{JUDGE_FAILED}{type(problem).__name__}: {problem}"
            blank = _blank(cell, self.case, VerdictKind.UNKNOWN)
            return replace(blank, because=why, reason=Reason.JUDGE_FAILED)

    def _verdict(self, cell: Cell, answer: Answer | None) -> Verdict:
        expectations = self._expectations.of(cell.reader, answer)
        unjudged = _unjudged(cell, expectations, answer)
        if unjudged.because or answer is None:
            return unjudged
        content = _content(cell, expectations, answer)
        verdict = _with(self._assess(content), unjudged, content)
        return with_order(verdict, answer, expectations.history[0].table.key)


def understand_cell(cell: Cell, expectations: Expectations, answer: Answer) -> Answer:
    """Return the answer to a cell as its product can have understood it, to be judged by it."""
    state = expectations.state(cell.step, view_of_rows(cell.view))
    types = dict(state.column_types(answer.question))
    declared = tolerances.declared_for_format(cell.reader, expectations.case.variant.format)
    return understand(answer, types, declared, truncated=expectations.truncated)


def _content(cell: Cell, expectations: Expectations, answer: Answer) -> Content:
    understood = understand_cell(cell, expectations, answer)
    judged = expectations.truncated, understood.question, answer_texts.content(understood)
    return Content(cell.step, view_of_rows(cell.view), judged, expectations, understood)


def _with(assessment: Assessment, verdict: Verdict, content: Content) -> Verdict:
    """Return the verdict with what the answer tells."""
    step, view, expectations, answer = (
        content.step,
        content.view,
        content.expectations,
        content.answer,
    )
    written = expectations.written.state(step, view).rows if expectations.written else None
    kind, because = VerdictKind.CORRECT, assessment.doubt
    if answer.refusal is not None:
        kind = VerdictKind.REFUSED
        because = _why_refused(answer.refusal, expectations.layout(step, view))
    elif assessment.findings:
        kind = VerdictKind.WRONG
    elif because := _unsettled(content):
        kind = VerdictKind.UNKNOWN
    key = expectations.history[0].table.key
    return replace(
        verdict,
        verdict=kind,
        findings=answer_texts.quoted(assessment.findings, answer, key),
        reproduces=assessment.names,
        inconclusive=answer.refusal is None and answer.inconclusive,
        because=because,
        expected=expectations.table(step, view, answer.question),
        normalised=evened_out(answer, content.state, written),
    )


def _unsettled(content: Content) -> str:
    """Return why an answer in which nothing is wrong is not right either; empty where it is."""
    expected = content.expectations.table(content.step, content.view, content.answer.question)
    names = dict.fromkeys(
        name
        for row in expected.rows
        for (name, _), value in zip(expected.columns, row, strict=True)
        if has_unsettled(value)
    )
    if not names:
        return ""
    return f"no specification settles what became of values in another type: {', '.join(names)}"


def _unjudged(cell: Cell, expectations: Expectations, answer: Answer | None) -> Verdict:
    """Return the verdict as far as no content is looked at: it stands where it says why."""
    case = expectations.case
    blank = _blank(cell, case, VerdictKind.UNKNOWN)
    if case.broken is not None and cell.step >= case.broken:
        return replace(blank, because=_nothing_known(case, cell.step))
    if answer is None:
        return replace(blank, because="did not run")
    asked = replace(blank, sql=answer.sql, seconds=answer.seconds, reused=answer.reused)
    if why := case.limit(cell.reader, case.variant.format, _version(cell, case)):
        if _refused(answer):
            return replace(asked, verdict=VerdictKind.UNSUPPORTED, because=why)
        asked = replace(asked, disclaimed=why if answer.has_rows else "")
    if answer.unknown or answer.not_applicable:
        return replace(asked, because=answer.unknown or answer.not_applicable)
    if cell.view == READ_OPTIMIZED and (why := expectations.layout_problem(cell.step)):
        return replace(asked, because=f"layout: {why}")
    return asked


def _nothing_known(case: RecordedVariant, step: int) -> str:
    broken = case.outcomes.get(case.broken or 0)
    why = f": step {broken.step}: {broken.because}" if broken and broken.because else ""
    return f"nothing is known of the table after step {step}{why}"


def _left_out(cell: Cell, case: RecordedVariant, answer: Answer | None) -> bool:
    fell_away = answer is not None and _fell_away(cell, answer, case)
    incomplete = fell_away and _incomplete(case.outcomes, cell.step)
    return _skipped(case.outcomes.get(cell.step)) or incomplete


def _skipped(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.SKIPPED


def _has_verdict(outcome: Outcome) -> bool:
    """Return whether a step has a verdict of its own."""
    return _failed(outcome) or outcome.half_done


def _failed(outcome: Outcome) -> bool:
    return outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.UNKNOWN}


def _incomplete(outcomes: Mapping[int, Outcome], step: int) -> bool:
    """Return whether some step so far was not wholly done: else what is planned is all there."""
    return any(_skipped(each) or _has_verdict(each) for at, each in outcomes.items() if at <= step)


def _fell_away(cell: Cell, answer: Answer, case: RecordedVariant) -> bool:
    """Return whether there was nothing to ask; older records call a view not made yet unknown."""
    if not answer.unknown:
        return bool(answer.not_applicable) and not answer.probe
    absent = case.merge_on_read and answer.unknown == past_views.no_entry(cell.view)
    so_far = (each for at, each in case.outcomes.items() if at <= cell.step)
    unmade = past_views.unmade(cell.view, case.history[: cell.step + 1])
    return absent and (unmade or any(outcome.half_done for outcome in so_far))


def _of_step(case: RecordedVariant, outcome: Outcome, wrong: tuple[Finding, ...]) -> Verdict:
    refused = outcome.kind is OutcomeKind.REFUSED or outcome.half_done
    cell = case.variant.step_cell(outcome.step)
    why = refusals.text(outcome.refusal) if outcome.refusal else outcome.because
    half_done = outcome.half_done
    why = f"{HALF_DONE}: {why}" if half_done else why
    kind = VerdictKind.REFUSED if refused else VerdictKind.UNKNOWN
    kind = kind if _has_verdict(outcome) else VerdictKind.WRONG
    blank, sql = _blank(cell, case, kind), "; ".join(outcome.statements)
    reason = Reason.HALF_DONE if half_done else Reason.OTHER
    return replace(blank, because=why, findings=wrong, sql=sql, reason=reason)


def _blank(cell: Cell, case: RecordedVariant, kind: VerdictKind) -> Verdict:
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


def _version(cell: Cell, case: RecordedVariant) -> str:
    state = case.state_of.get(cell.step)
    return state.table_version if state else ""


def _refused(answer: Answer) -> bool:
    """Return whether all of a question was refused, or the one that was sent in its stead."""
    return bool(answer.probe) or (answer.refusal is not None and not answer.has_rows)


def _why_refused(refusal: Refusal, layout: Layout) -> str:
    because = refusals.meaning(refusal)
    if because == refusals.OTHER_TYPE and (mapping := layout.clash()):
        return f"read {mapping}: {because}"
    return because
