"""What each read strategy would answer, as the page holds it, beside what the judge found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import VerdictKind
from harness.model.simulation.matching import table_of
from harness.run.load_run import Run
from harness.run.run_judge import strategy_answers
from tests.builders import recorded_run


@pytest.fixture(scope="module")
def run() -> Run:
    return recorded_run.run_of("quick_start")


def test_the_strategies_that_show_an_answer_are_those_that_the_judge_found(run: Run) -> None:
    answers = strategy_answers(run)
    for verdict in run.verdicts:
        if verdict.verdict is VerdictKind.WRONG:
            given = run.answers[verdict.case]
            table = table_of(given.labels, given.rows)
            of = {
                table_of(answer.labels, answer.rows): answer.strategies
                for answer in answers[verdict.question]
            }
            assert tuple(map(str, of.get(table, ()))) == verdict.reproduces


def test_a_plan_that_somebody_changed_has_no_answers_and_stops_nothing(run: Run) -> None:
    broken = {variant.id: "not: [a scenario" for variant in run.info.variants}
    assert strategy_answers(replace(run, info=replace(run.info, scenarios=broken))) == {}
