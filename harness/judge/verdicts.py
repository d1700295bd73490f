"""The judge: answers against the truth, stage by stage. Pure: everything comes from records."""

import logging
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import zip_longest
from typing import Final

from harness.core import open_cases, refusals, tolerances
from harness.core.grouping import grouped
from harness.core.open_cases import OpenCase
from harness.core.records import (
    HALF_DONE,
    JUDGE_FAILED,
    Answer,
    Finding,
    FindingKind,
    OutcomeKind,
    Reason,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.judge import answer_tables, compare, recorded_by_table
from harness.judge import answers as answer_texts
from harness.judge.admitted import OpenQuestion, admitted
from harness.judge.attribute import attribute
from harness.judge.expectations import Expectations
from harness.judge.expected_state import ExpectedState, column_types
from harness.judge.file_evidence import Strategies, match_strategies
from harness.judge.final_attribution import with_final_attribution
from harness.judge.hidden_from_readers import hidden_from_readers
from harness.judge.name import name
from harness.judge.recorded_variant import RecordedVariant, view_of_rows
from harness.judge.trace import trace
from harness.judge.understand import evened_out, understand
from harness.model import past_views
from harness.model.canonical import Value, same, text_of
from harness.scenario.cells import Cell

WHY: Final = "a fresh server gave another answer than one that had answered other questions before"


def with_order(verdict: Verdict, answer: Answer, key: str) -> Verdict:
    """Return the verdict on an answer with what the earlier answer to the same question tells.

    Where they differ, at least one is wrong; what is judged beside is that of the fresh server.
    `answer` is as it was recorded; `key`: the name of the key column.
    """
    if answer.earlier is None:
        return verdict
    witnesses = tuple(_witnesses(answer, answer.earlier, key)) or (Witness("", "", None, None),)
    columns = tuple(dict.fromkeys(witness.column for witness in witnesses if witness.column))
    kind, responsible = FindingKind.ORDER_DEPENDENT, Responsible.READER
    finding = Finding(kind, columns, witnesses[0], witnesses, responsible)
    after = answer.after and f"one that is asked {answer.after} first gives that one too"
    because = "; ".join(filter(None, (WHY, after, verdict.because)))
    findings = (finding, *verdict.findings)
    return replace(verdict, verdict=VerdictKind.WRONG, findings=findings, because=because)


def _witnesses(answer: Answer, earlier: Answer, key: str) -> Iterator[Witness]:
    """Yield where they differ: `expected` is of the fresh server, `actual` of the other one."""
    now, before = answer.labels, earlier.labels
    if answer.refusal is None:
        for name in dict.fromkeys((*now, *before)):
            if (name in now) != (name in before):
                here, there = (name if name in labels else None for labels in (now, before))
                yield Witness("", name, here, there)
    rows, others = _by_key(answer, key), _by_key(earlier, key)
    for at in dict.fromkeys((*rows, *others)):
        for row, other in zip_longest(rows.get(at, ()), others.get(at, ())):
            if row is None or other is None:
                yield Witness(at, "", row, other)
                continue
            values = dict(zip(now, row, strict=True))
            for name, value in zip(before, other, strict=True):
                if name in values and not same(values[name], value):
                    yield Witness(at, name, values[name], value)


def _by_key(answer: Answer, key: str) -> dict[str, list[tuple[Value, ...]]]:
    """Return the rows by the text of their key, in one order; all under "" where there is none."""
    names = [label.lower() for label in answer.labels]
    at = names.index(key.lower()) if key.lower() in names else None
    rows = sorted(answer.rows, key=repr)
    return grouped([("" if at is None else text_of(row[at]), row) for row in rows])


LOG: Final = logging.getLogger("harness.judge")


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one answer tells, whoever else was asked."""

    findings: tuple[Finding, ...]
    strategies: tuple[str, ...]
    """The read strategies that reproduce it."""
    doubt: str = ""
    """How the files are not as the truth says, or tell nothing, where something is wrong."""
    open: str = ""
    """What leaves an answer open that is not the expected one; empty where nothing does."""


def judge(
    case: RecordedVariant, cells: Sequence[Cell], answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return a verdict for every cell of a variant whose step was not skipped.

    There is none either where nothing could be asked, since a refused step left out its column or
    the table's first write, or a half-done one its entry in the catalog.
    """
    judged = JudgedVariant(case)
    of_cells = (judged.judge(cell, answers.get(cell.case)) for cell in cells)
    return judged.settled((*of_steps(case), *filter(None, of_cells)), answers)


def of_steps(case: RecordedVariant) -> Iterator[Verdict]:
    """Yield a verdict on each step that was refused, of which nothing is known, or is wrong.

    It is where what the table itself says of its schema is wrong since.
    """
    wrong = recorded_by_table.findings(case)
    for step, outcome in case.outcomes.items():
        failed = outcome.failed and outcome.kind is not OutcomeKind.SKIPPED
        if not failed and step not in wrong:
            continue
        kind, reason, why = VerdictKind.UNKNOWN, Reason.OTHER, outcome.because
        if outcome.refusal:
            why = refusals.text(outcome.refusal)
        if outcome.half_done:
            kind, reason, why = VerdictKind.REFUSED, Reason.HALF_DONE, f"{HALF_DONE}: {why}"
        elif outcome.kind is OutcomeKind.REFUSED:
            kind = VerdictKind.REFUSED
        elif not failed:
            kind = VerdictKind.WRONG
        yield replace(
            _blank(case.variant.step_cell(step), case, kind),
            because=why,
            findings=wrong.get(step, ()),
            sql="; ".join(outcome.statements),
            reason=reason,
        )


def assess(
    expectations: Expectations,
    step: int,
    view: str,
    answer: Answer,
    *,
    by_lists: bool = False,
    closed: bool = False,
) -> Assessment:
    """Judge one answer, as it is understood; `view`: the one whose rows the view asked shows.

    `by_lists`: whether the reader goes by the columns that the catalog has of each partition, and
    there are such. `closed`: whether nothing leaves the answer open.
    """
    state = _asked_for(expectations, step, view, answer)
    layout, agreement = expectations.layout(step, view), expectations.agreement(step, view)
    strategies = match_strategies(answer, layout)
    if strategies.catalog is not None:
        state = replace(state, catalog=strategies.catalog)
    comparison = compare.compare(
        answer, state, strategies, agreement, truncated=expectations.truncated
    )
    if not comparison.differences:
        return Assessment((), strategies.names)
    if not closed and (lines := _left_open(expectations, step, view, answer)):
        return Assessment((), strategies.names, open="; ".join(line.text for line in lines))
    named = name(trace(comparison, answer, layout), state)
    query, excluded = answer.question, layout.excluded(answer.question)
    lists = expectations.partition_lists(step, view, query) if by_lists else None
    hidden = hidden_from_readers(expectations.case, step, view, query, excluded, lists)
    findings = attribute(named, comparison, agreement, state, hidden)
    doubted = findings and answer.refusal is None
    return Assessment(findings, strategies.names, layout.doubt() if doubted else "")


def _left_open(
    expectations: Expectations, step: int, view: str, answer: Answer
) -> Sequence[OpenCase]:
    """Return which lines of data admit an answer that is not the expected one; none if none do."""
    cases = open_cases.of_format(expectations.case.variant.format)
    readings = _readings(expectations, step, view, answer, cases)
    return next((lines for lines, shown in readings if shown), ())


def _readings(
    expectations: Expectations, step: int, view: str, answer: Answer, cases: Sequence[OpenCase]
) -> Iterator[tuple[Sequence[OpenCase], bool]]:
    """Yield which lines would have a question answered otherwise, and whether it is answered so."""
    if not cases or answer.refusal is not None:
        return
    agreement = expectations.agreement(step, view)
    question = OpenQuestion(expectations.state(step, view), answer.question, agreement)
    by = Strategies((), None, (None,))
    for lines, state in admitted(cases, question):
        truncated = expectations.truncated
        wrong = compare.compare(answer, state, by, None, truncated=truncated).differences
        yield lines, not wrong


def _asked_for(expectations: Expectations, step: int, view: str, answer: Answer) -> ExpectedState:
    """Return what an answer should show: the rows asked for; all, for columns asked alone."""
    if answer.refusal is not None:
        return expectations.state(step, view)
    return compare.limited(expectations.asked(step, view, answer.question), answer)


def understand_cell(cell: Cell, expectations: Expectations, answer: Answer) -> Answer:
    """Return the answer to a cell as its product can have understood it, to be judged by it."""
    state = expectations.state(cell.step, view_of_rows(cell.view))
    types = dict(column_types(state.schema, answer.question))
    variant = expectations.case.variant
    declared = tolerances.declared_for_format(cell.reader, variant.format, variant.settings)
    return understand(answer, types, declared, truncated=expectations.truncated)


class JudgedVariant:
    """A variant whose answers are judged one by one, those of one content once."""

    def __init__(self, case: RecordedVariant) -> None:
        self.case = case
        self.expectations = Expectations(case)
        self._assessments: dict[Hashable, Assessment] = {}
        self._of_query = cache(partial(answer_tables.expected, self.expectations))

    def judge(self, cell: Cell, answer: Answer | None) -> Verdict | None:
        """Return the verdict on an answer as far as it tells by itself; None for nothing to ask.

        A check that fails makes it unknown, and says nothing of any other cell.
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

    def settled(
        self, verdicts: Sequence[Verdict], answers: Mapping[str, Answer]
    ) -> tuple[Verdict, ...]:
        """Return the final verdicts, as all answers tell; `verdicts`: those on each by itself.

        What leaves an answer open is a way to read a table. It is none of a reader whose right
        answer to another question about the table would be otherwise by it.
        """
        right = grouped([(_table_read(v), v) for v in verdicts if v.verdict is VerdictKind.CORRECT])
        all_told = [
            self._verdict(_cell_of(verdict), answers.get(verdict.case), closed=True)
            if verdict.verdict is VerdictKind.OPEN
            and any(
                self._denies(other, verdict, answers)
                for other in right.get(_table_read(verdict), ())
            )
            else verdict
            for verdict in verdicts
        ]
        return with_final_attribution(all_told, answers)

    def _denies(self, right: Verdict, left_open: Verdict, answers: Mapping[str, Answer]) -> bool:
        lines = _left_open(*self._understood(left_open, answers))
        return not all(shown for _, shown in _readings(*self._understood(right, answers), lines))

    def _understood(
        self, verdict: Verdict, answers: Mapping[str, Answer]
    ) -> tuple[Expectations, int, str, Answer]:
        answer = answers[verdict.case]
        of_query = self._of_query(verdict.query, verdict.step)
        expectations = of_query.for_reader(verdict.reader, answer)
        understood = understand_cell(_cell_of(verdict), expectations, answer)
        return expectations, verdict.step, view_of_rows(verdict.view), understood

    def _verdict(self, cell: Cell, answer: Answer | None, *, closed: bool = False) -> Verdict:
        expectations = self._of_query(cell.query, cell.step).for_reader(cell.reader, answer)
        unjudged = _unjudged(cell, expectations, answer)
        if unjudged.because or answer is None:
            return unjudged
        step, view = cell.step, view_of_rows(cell.view)
        understood = understand_cell(cell, expectations, answer)
        # Readers of one table often give the same.
        texts = understood.question, answer_texts.content(understood)
        by_lists = expectations.has_lists(step, view) and tolerances.LISTS in (
            tolerances.goes_by_catalog(tolerances.product(cell.reader))
        )
        content = step, view, expectations.truncated, by_lists, texts, closed
        if content not in self._assessments:
            made = assess(expectations, step, view, understood, by_lists=by_lists, closed=closed)
            self._assessments[content] = made
        verdict = _with(self._assessments[content], unjudged, expectations, view, understood)
        return with_order(verdict, answer, expectations.history[0].table.key)


def _cell_of(verdict: Verdict) -> Cell:
    return Cell(verdict.variant, verdict.step, verdict.reader, verdict.view, verdict.query)


def _table_read(verdict: Verdict) -> Hashable:
    return verdict.step, verdict.view, verdict.reader


def _with(
    assessment: Assessment, verdict: Verdict, expectations: Expectations, view: str, answer: Answer
) -> Verdict:
    step, written = verdict.step, expectations.written
    table = expectations.table(step, view, answer.question)
    kind, because = VerdictKind.CORRECT, assessment.doubt
    if answer.refusal is not None:
        kind, because = VerdictKind.REFUSED, refusals.meaning(answer.refusal)
        mapping = expectations.layout(step, view).clash() if because == refusals.OTHER_TYPE else ""
        because = f"read {mapping}: {because}" if mapping else because
    elif assessment.findings:
        kind = VerdictKind.WRONG
    elif assessment.open:
        kind, because = VerdictKind.OPEN, assessment.open
    elif unsettled := expectations.unsettled(step, view, answer.question):
        names, kind = ", ".join(unsettled), VerdictKind.UNKNOWN
        because = f"no specification settles what became of values in another type: {names}"
    key = expectations.history[0].table.key
    return replace(
        verdict,
        verdict=kind,
        findings=answer_texts.quoted(assessment.findings, answer, key),
        reproduces=assessment.strategies,
        inconclusive=answer.refusal is None and answer.inconclusive,
        because=because,
        expected=table,
        normalised=evened_out(
            answer,
            _asked_for(expectations, step, view, answer),
            written.state(step, view).rows if written else None,
        ),
    )


def _unjudged(cell: Cell, expectations: Expectations, answer: Answer | None) -> Verdict:
    """Return the verdict as far as no content is looked at: it stands where it says why."""
    case, step = expectations.case, cell.step
    blank = _blank(cell, case, VerdictKind.UNKNOWN)
    if case.broken is not None and step >= case.broken:
        broken = case.outcomes.get(case.broken)
        why = f": step {broken.step}: {broken.because}" if broken and broken.because else ""
        return replace(blank, because=f"nothing is known of the table after step {step}{why}")
    if answer is None:
        return replace(blank, because="did not run")
    asked = replace(blank, sql=answer.sql, seconds=answer.seconds, reused=answer.reused)
    version = case.state_of[step].table_version if step in case.state_of else ""
    if why := case.limit(cell.reader, case.variant.format, version):
        # All of a question was refused, or the one that was sent in its stead.
        if answer.probe or (answer.refusal is not None and not answer.has_rows):
            return replace(asked, verdict=VerdictKind.UNSUPPORTED, because=why)
        asked = replace(asked, disclaimed=why if answer.has_rows else "")
    if answer.unknown or answer.not_applicable:
        return replace(asked, because=answer.unknown or answer.not_applicable)
    return replace(asked, because=expectations.unjudged(step, cell.view))


def _left_out(cell: Cell, case: RecordedVariant, answer: Answer | None) -> bool:
    """Return whether a step was skipped, or nothing could be asked as one was not wholly done."""
    outcome = case.outcomes.get(cell.step)
    if outcome is not None and outcome.kind is OutcomeKind.SKIPPED:
        return True
    if answer is None or not (answer.unknown or answer.not_applicable):
        return False
    so_far = [outcome for step, outcome in case.outcomes.items() if step <= cell.step]
    if not any(outcome.failed for outcome in so_far):
        return False
    if not answer.unknown:
        return bool(answer.not_applicable) and not answer.probe
    # Older records call a view that is not made yet unknown.
    if not case.merge_on_read or answer.unknown != past_views.no_entry(cell.view):
        return False
    unmade = past_views.unmade(cell.view, case.history[: cell.step + 1])
    return unmade or any(outcome.half_done for outcome in so_far)


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
