"""The judge of a run: it judges each answer once, as it comes or, if it was there, at the end.

What one answer says by itself is provisional: answers of others to the same query can change it
(`judge.final_attribution`), and so can the controls of its reader, which may be set up wrongly.
"""

import logging
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Final

from harness import formats
from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl, refusals
from harness.core.errors import HarnessError, UsageProblem
from harness.core.grouping import grouped
from harness.core.records import Answer, QuestionKey, Responsible, StateRecord, Verdict, VerdictKind
from harness.judge import baseline, gate
from harness.judge import verdicts as judge
from harness.judge.baseline import Applied, Known
from harness.judge.final_attribution import may_change
from harness.judge.gate import Gate
from harness.judge.recorded_variant import RecordedVariant, view_of_rows
from harness.judge.verdicts import JudgedVariant
from harness.model.simulation.reader import StrategyAnswer
from harness.plan import controls
from harness.plan.distribution_support import declared
from harness.run import baseline_files, load_run, plan_record
from harness.run.load_run import Run
from harness.scenario.cells import AskedAgain, Cell, Plan, Variant

AT_ONCE: Final = 200
"""The truth of so many variants is kept: engines are asked about few at the same time."""
ONE_OF: Final = 50
"""A sample has one right answer of so many."""


def case_of(variant: Variant, states: Sequence[StateRecord]) -> RecordedVariant:
    shape = formats.load(variant.format)
    return RecordedVariant(variant, shape.merge_on_read, states, declared, shape.table_for)


class RunJudge:
    """Takes the records of a run as they come; for one thread at a time."""

    def __init__(self, plan: Plan, results: ResultCache | None = None) -> None:
        """`results`: verdicts on variants that were recorded alike before; None: all are judged."""
        self.plan = plan
        self.results = results
        self._cells = {cell.case: cell for cell in plan.cells}
        self._variants = {variant.id: variant for variant in plan.variants}
        self._states: dict[str, list[StateRecord]] = {}
        self._by_themselves: dict[str, Verdict | None] = {}
        self._share = jsonl.sharing(len(plan.cells))
        self._judged = lru_cache(maxsize=AT_ONCE)(self._judged_variant)

    def add_states(self, states: Iterable[StateRecord]) -> None:
        """Take the records of variants, all of a variant at once and before any answer about it."""
        for state in states:
            self._states.setdefault(state.variant, []).append(state)

    def add_answer(self, answer: Answer) -> Verdict | None:
        """Judge an answer by itself; None where there will be none.

        An answer that comes once more takes the place of the first one.
        """
        cell = self._cells[answer.case]
        self._by_themselves.pop(answer.case, None)
        # The verdict on what an earlier run got is in the cache, and other records in the folder.
        if answer.reused or cell.variant not in self._states:
            return None
        try:
            verdict = self._judged(cell.variant).judge(cell, answer)
        except Exception:  # noqa: BLE001 - it is met again at the end, once every answer is recorded
            return None
        self._by_themselves[answer.case] = verdict and self._share(verdict)
        return verdict

    def verdicts(self, run: Run) -> Iterator[Verdict]:
        """Yield the final verdicts, one variant after another: no more than one is in memory."""
        cells = grouped([(cell.variant, cell) for cell in self.plan.cells])
        controls = controls_of(self.plan)
        with_controls = {cell.variant for cells in controls.values() for cell in cells}
        first = {
            variant.id: self._of_variant(run, variant, cells.get(variant.id, ()))
            for variant in self.plan.variants
            if variant.id in with_controls
        }
        of_controls = chain.from_iterable(first.values())
        failed = control_failures(of_controls, controls, run.answers)
        for variant in self.plan.variants:
            judged = first.get(variant.id)
            if judged is None:
                judged = self._of_variant(run, variant, cells.get(variant.id, ()))
            for verdict in judged:
                why = failed.get((verdict.reader, variant.format), "")
                yield invalidate(verdict, why)

    def _of_variant(self, run: Run, variant: Variant, cells: Sequence[Cell]) -> tuple[Verdict, ...]:
        """Return the verdicts on a variant, for which nothing of any other is looked at."""
        states = run.states_of(variant.id)

        def settled() -> tuple[Verdict, ...]:
            return self._settled(run, variant, states, cells)

        if self.results is None:
            return settled()
        asked = [cell.case for cell in cells if cell.case in run.answers]
        lines = {case: load_run.answer_line(run.answers, case) for case in asked}
        records = *map(jsonl.dump, states), *lines.values()
        texts = map(load_run.unmarked, records)
        made_from = repr(variant), repr(cells), repr(run.info.locks), *texts
        reused = {case for case, line in lines.items() if line != load_run.unmarked(line)}
        verdicts = self.results.records(
            # What is unknown is looked at again.
            Verdict, made_from, settled, lambda v: v.verdict is not VerdictKind.UNKNOWN
        )  # fmt: skip
        return tuple(replace(v, reused=bool(v.sql) and v.case in reused) for v in verdicts)

    def _settled(
        self, run: Run, variant: Variant, states: Sequence[StateRecord], cells: Sequence[Cell]
    ) -> tuple[Verdict, ...]:
        judged = self.of_variant(variant.id, states)
        verdicts = list(judge.of_steps(judged.case))
        for cell in cells:
            if cell.case in self._by_themselves:
                verdict = self._by_themselves[cell.case]
            else:
                verdict = judged.judge(cell, run.answers.get(cell.case))
            if verdict is not None:
                verdicts.append(verdict)
        if not any(v.verdict is VerdictKind.OPEN or may_change(v) for v in verdicts):
            return tuple(verdicts)
        return judged.settled(verdicts, run.answers)

    def of_variant(self, variant: str, states: Sequence[StateRecord]) -> JudgedVariant:
        """Return a variant as it is judged, with all that was worked out of it so far."""
        self._states.setdefault(variant, list(states))
        return self._judged(variant)

    def _judged_variant(self, variant: str) -> JudgedVariant:
        return JudgedVariant(case_of(self._variants[variant], self._states.get(variant, [])))


def due(verdict: Verdict, answers: Mapping[str, Answer], which: AskedAgain) -> bool:
    """Return whether the answer of a cell is asked for once more, of a fresh server.

    It is where it may be owed to what its server was asked before, or is of a sample; not where the
    files hold what is wrong, nor what a fresh server has answered already.
    """
    if verdict.verdict is VerdictKind.WRONG:
        readers = {Responsible.READER, None}
        suspect = any(finding.responsible in readers for finding in verdict.findings)
        suspect = suspect and not verdict.reproduces
    else:
        sampled = which is AskedAgain.SAMPLE and zlib.crc32(verdict.case.encode()) % ONE_OF == 0
        suspect = sampled and verdict.verdict is VerdictKind.CORRECT
    if not suspect:
        return False
    answer = answers.get(verdict.case)
    return answer is not None and answer.has_table and not answer.again


SET_UP: Final = "set-up: "
"""What the reason of such a verdict begins with."""
ReaderFormat = tuple[str, str]
Controls = Mapping[ReaderFormat, Sequence[Cell]]


def controls_of(plan: Plan) -> Controls:
    variants = {variant.id: variant for variant in plan.variants}
    return grouped(
        [
            ((cell.reader, variants[cell.variant].format), cell)
            for cell in plan.cells
            if controls.is_control(cell, variants[cell.variant], plan.metastore)
        ]
    )


def control_failures(
    verdicts: Iterable[Verdict], of: Controls, answers: Mapping[str, Answer]
) -> Mapping[ReaderFormat, str]:
    """Return why nothing is known of each reader and format whose controls all failed.

    `verdicts`: those on the controls, maybe among others.
    """
    by_case = {verdict.case: verdict for verdict in verdicts}
    reasons = {
        key: _failure([by_case[c.case] for c in cells if c.case in by_case], answers, key[1])
        for key, cells in of.items()
    }
    return {key: why for key, why in reasons.items() if why}


def _failure(judged: Sequence[Verdict], answers: Mapping[str, Answer], format_name: str) -> str:
    if not judged or any(verdict.verdict.is_good for verdict in judged):
        return ""
    first, answer = judged[0], answers.get(judged[0].case)
    refusal = answer.refusal if answer else None
    seen = refusals.text(refusal) if refusal else first.because or "; ".join(_seen(first))
    return (
        f"{SET_UP}{first.reader} does not read a {format_name} table that never changed "
        f"({first.verdict}: {seen}); is it set up rightly?"
    )


def _seen(verdict: Verdict) -> Iterator[str]:
    for finding in verdict.findings:
        first = finding.witnesses[:1]
        where = "".join(f" at {witness.column or 'row'} of {witness.key}" for witness in first)
        yield f"{finding.kind}{where}"


def invalidate(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict as a failure of its reader's controls leaves it; no `why`: as it is.

    What is unknown anyway keeps its reason.
    """
    if not why or verdict.verdict is VerdictKind.UNKNOWN:
        return verdict
    unknown = replace(verdict, verdict=VerdictKind.UNKNOWN, because=why)
    return replace(unknown, findings=(), reproduces=(), inconclusive=False)


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What is judged of a cell, and what the baselines say of this cell alone."""

    applied: Applied
    answer: Answer | None

    @property
    def verdict(self) -> Verdict:
        return self.applied.verdicts[0]


@dataclass(frozen=True)  # no slots: what is derived is kept
class EndedRun:
    """What a run that ended says of its cells, also one that died before it judged."""

    folder: Path

    @property
    def begun(self) -> bool:
        return (self.folder / load_run.INFO).is_file()

    @cached_property
    def _run(self) -> Run:
        run = load_run.load(self.folder)
        if (self.folder / load_run.VERDICTS).exists():
            return run
        judged = RunJudge(self._plan).verdicts(run)
        return replace(run, recorded={verdict.case: verdict for verdict in judged})

    @cached_property
    def _plan(self) -> Plan:
        return plan_record.plan_of(load_run.read_info(self.folder))

    @cached_property
    def _known(self) -> Mapping[str, Sequence[Known]]:
        return baseline_files.lines(self._run.info, self._plan)

    def find(self, case: str) -> CellOutcome | None:
        """Return the verdict on a cell: unknown without an answer.

        None for a cell that was not asked since a step was refused, or that the run does not have.
        """
        verdict = self._run.recorded.get(case) if self.begun else None
        if verdict is None:
            return None
        answer, lines = self._run.answers.get(case), self._known[verdict.scenario]
        run = replace(self._run, states=(), answers={case: answer} if answer else {})
        facts, now = baseline_files.facts(run, self._plan), baseline_files.today()
        return CellOutcome(baseline.apply([verdict], {verdict.scenario: lines}, facts, now), answer)


def late(run: Run) -> tuple[str, ...]:
    """Return the cases that were answered only when asked again.

    An error that came both times is no such answer.
    """
    cases = (v.case for v in run.verdicts if v.case in run.attempted and v.case in run.answers)
    return tuple(
        answer.case
        for answer in map(run.answers.__getitem__, cases)
        if answer.attempts and not answer.unknown
        if not (answer.refusal and refusals.may_be_chance(answer.refusal))
    )


def gate_of(run: Run, applied: Applied, *, fail_on_flaky: bool = False) -> Gate:
    return gate.gate(applied, late(run), fail_on_flaky=fail_on_flaky)


def recorded_gate(run: Run) -> Gate:
    """Return what a run that was judged before ends with.

    Where its baselines cannot be read, what was known when it was judged counts, and that is said.
    """
    verdicts = (*run.verdicts, *run.step_verdicts)
    try:
        return gate_of(run, baseline_files.apply(run, plan_record.plan_of(run.info), verdicts))
    except UsageProblem as problem:
        answered = tuple(verdict for verdict in verdicts if verdict.disclaimed)
        gate = gate_of(run, Applied(verdicts, answered=answered))
        why = f"The baselines of now were not read, those of the run's time count: {problem}"
        return replace(gate, reasons=(*gate.reasons, why))


LOG: Final = logging.getLogger("harness.run")


def with_strategy_answers(run: Run, judge: RunJudge | None = None) -> Run:
    return replace(run, strategy_answers=partial(strategy_answers, run, judge))


def strategy_answers(
    run: Run, judge: RunJudge | None = None
) -> Mapping[QuestionKey, tuple[StrategyAnswer, ...]]:
    """Return the answers to every question that was answered wrongly, each table once.

    `judge`: what judged the run, and has worked out the half of it.
    """
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    first = {verdict.question: verdict for verdict in reversed(wrong)}
    by_variant = grouped([(verdict.variant, verdict) for verdict in first.values()])
    if not wrong:
        return {}
    try:
        judge = judge or RunJudge(plan_record.plan_of(run.info))
    except HarnessError as problem:
        LOG.info("the read strategies are not worked out: %s", problem)
        return {}
    answers = {}
    for variant in (v.id for v in judge.plan.variants if v.id in by_variant):
        expectations = judge.of_variant(variant, run.states_of(variant)).expectations
        for verdict in by_variant[variant]:
            answer = run.answers.get(verdict.case)
            shown: tuple[StrategyAnswer, ...] = ()
            try:
                if answer:
                    expectation = expectations.for_reader(verdict.reader, answer)
                    layout = expectation.layout(verdict.step, view_of_rows(verdict.view))
                    readings = layout.readings()
                    shown = readings.answers(answer.question) if readings else ()
            except Exception:
                LOG.exception("cannot work out the read strategies of %s", verdict.case)
            answers[verdict.question] = shown
    return answers
