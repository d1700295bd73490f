"""What each way of reading would answer to the questions that some reader got wrong. Pure.

Whoever sees an answer in an engine of his own can look it up there. Of a product that cannot show
all that was written, it is worked out from what it can show.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.core.errors import HarnessError
from harness.core.grouping import grouped
from harness.core.records import Answer, QuestionKey, Verdict, VerdictKind
from harness.judge.case import view_of_rows
from harness.judge.standard import Standards
from harness.model.simulation.matching import StrategyAnswer
from harness.run import plan_record
from harness.run.load_run import Run
from harness.run.run_judge import case_of
from harness.scenario.cells import Variant

LOG: Final = logging.getLogger("harness.run")


def way_answers(run: Run) -> Mapping[QuestionKey, tuple[StrategyAnswer, ...]]:
    """Return the answers of every question that was answered wrongly, each table once."""
    wrong = (each for each in run.verdicts if each.verdict is VerdictKind.WRONG)
    first = {each.question: each for each in reversed(tuple(wrong))}
    return dict(_answers(run, tuple(first.values())))


def _answers(
    run: Run, verdicts: Sequence[Verdict]
) -> Iterator[tuple[QuestionKey, tuple[StrategyAnswer, ...]]]:
    of = grouped((each.variant, each) for each in verdicts)
    for variant in _variants(run) if of else ():
        if variant.id in of:
            standards = Standards(case_of(variant, run.states_of(variant.id)))
            for each in of[variant.id]:
                answer = run.answers.get(each.case)
                yield each.question, _of(standards, each, answer) if answer else ()


def _variants(run: Run) -> tuple[Variant, ...]:
    """Return the variants of the plan; none where somebody changed the record of it."""
    try:
        return plan_record.plan_of(run.info).variants
    except HarnessError as problem:
        LOG.info("the ways of reading are not worked out: %s", problem)
        return ()


def _of(standards: Standards, verdict: Verdict, answer: Answer) -> tuple[StrategyAnswer, ...]:
    """Return the answers to one question; none where they cannot be worked out."""
    try:
        standard = standards.of(verdict.reader, answer)
        readings = standard.layout(verdict.step, view_of_rows(verdict.view)).readings()
        return readings.answers(answer.question) if readings else ()
    except Exception:
        LOG.exception("cannot work out the ways of reading of %s", verdict.case)
        return ()
