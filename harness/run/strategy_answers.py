"""What each read strategy would answer to the questions that some reader got wrong. Pure.

Whoever sees an answer in an engine of his own can look it up there. Of a product that cannot show
all that was written, it is worked out from what it can show.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from harness.core.errors import HarnessError
from harness.core.grouping import grouped
from harness.core.records import Answer, QuestionKey, Verdict, VerdictKind
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import view_of_rows
from harness.model.simulation.matching import StrategyAnswer
from harness.run import plan_record
from harness.run.load_run import Run
from harness.run.run_judge import case_of
from harness.scenario.cells import Variant

LOG: Final = logging.getLogger("harness.run")


def with_strategy_answers(run: Run) -> Run:
    """Return a run that hands on what each strategy would answer, to reports."""
    return replace(run, strategy_answers=partial(strategy_answers, run))


def strategy_answers(run: Run) -> Mapping[QuestionKey, tuple[StrategyAnswer, ...]]:
    """Return the answers to every question that was answered wrongly, each table once."""
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    first = {verdict.question: verdict for verdict in reversed(wrong)}
    return dict(_answers(run, grouped((v.variant, v) for v in first.values())))


def _answers(
    run: Run, wrong: Mapping[str, list[Verdict]]
) -> Iterator[tuple[QuestionKey, tuple[StrategyAnswer, ...]]]:
    for variant in _variants(run) if wrong else ():
        if variant.id in wrong:
            expectations = Expectations(case_of(variant, run.states_of(variant.id)))
            for verdict in wrong[variant.id]:
                answer = run.answers.get(verdict.case)
                yield verdict.question, _of(expectations, verdict, answer) if answer else ()


def _variants(run: Run) -> tuple[Variant, ...]:
    """Return the variants of the plan; none where somebody changed the record of it."""
    try:
        return plan_record.plan_of(run.info).variants
    except HarnessError as problem:
        LOG.info("the read strategies are not worked out: %s", problem)
        return ()


def _of(expectations: Expectations, verdict: Verdict, answer: Answer) -> tuple[StrategyAnswer, ...]:
    """Return the answers to one question; none where they cannot be worked out."""
    try:
        shown = expectations.for_reader(verdict.reader, answer)
        readings = shown.layout(verdict.step, view_of_rows(verdict.view)).readings()
        return readings.answers(answer.question) if readings else ()
    except Exception:
        LOG.exception("cannot work out the read strategies of %s", verdict.case)
        return ()
