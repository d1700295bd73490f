"""A Delta table that Spark and Trino write in turn: Trino reaches it in an object store alone."""

import pytest

from harness.core.records import OutcomeKind, VerdictKind
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

TRINO, SPARK = "trino-476", "spark-3.5.8-delta-3.3.2"
BY_ID = "column_mapping=id"
MARKED = range(5, 10)
"""From the new column on, until Trino's update takes the rest out of the file with marked rows."""
(STORY,) = shipped("mixed_writers/delta_in_turn")
PLAN = planned(
    [STORY],
    ["delta"],
    [SPARK],
    [SPARK, TRINO],
    in_turn=True,
    axes={"column_mapping": ("name", "id"), "deletion_vectors": ("on",)},
)


def test_every_step_of_both_is_applied_and_is_a_version(run: Run) -> None:
    mine = {variant.id for variant in PLAN.variants}
    results = [state.outcome for state in run.states if state.variant in mine]
    assert len(results) == len(mine) * (len(STORY.steps) + 1) == 32
    assert {outcome.kind for outcome in results} == {OutcomeKind.APPLIED}
    assert all(file.instant == str(file.step) for file in results)


def test_spark_shows_what_both_wrote(run: Run) -> None:
    results = [e for e in run.verdicts if STORY.name in e.case and str(e.reader) == SPARK]
    assert len(results) == len(PLAN.variants) * len(STORY.steps)
    assert {verdict.verdict for verdict in results} == {VerdictKind.CORRECT}


def test_trino_refuses_marked_files_without_the_new_column_where_columns_are_found_by_id(
    run: Run,
) -> None:
    asked = [e for e in run.verdicts if STORY.name in e.case and str(e.reader) == TRINO]
    odd = {(e.variant, e.step): e for e in asked if e.verdict is not VerdictKind.CORRECT}
    (by_id,) = (variant.id for variant in PLAN.variants if BY_ID in variant.id)
    assert odd.keys() == {(by_id, step) for step in MARKED}
    assert {verdict.verdict for verdict in odd.values()} == {VerdictKind.REFUSED}
    assert not any(verdict.findings for verdict in odd.values())
