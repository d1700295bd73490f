"""Tables that two engines write in turn: of Iceberg all is right, of Hive ACID Trino refuses."""

import pytest

from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

TRINO, SPARK, HIVE = "trino-476", "spark-3.5.8-iceberg-1.10.1", "hive-3.1.3"
DROPPED = range(7, 13)
"""After `f2` is dropped by Trino, until a compaction writes all files anew."""
UPDATE = 10
(STORY,) = shipped("mixed_writers/in_turn")
PLAN = planned([STORY], ["iceberg", "hive-acid"], [SPARK, HIVE], [SPARK, TRINO], in_turn=True)


def test_trino_s_steps_are_applied_but_for_an_update_of_files_that_it_cannot_open(run: Run) -> None:
    odd = {
        (state.variant, state.outcome.step)
        for state in run.states
        if state.outcome.kind is not OutcomeKind.APPLIED
    }
    (acid,) = (variant.id for variant in PLAN.variants if variant.format == "hive-acid")
    assert odd == {(acid, UPDATE)}


def test_of_iceberg_everything_is_right_whoever_wrote(run: Run) -> None:
    results = [verdict for verdict in run.verdicts if "[iceberg]" in verdict.variant]
    assert len(results) == 2 * len(STORY.steps)
    assert {verdict.verdict for verdict in results} == {VerdictKind.CORRECT}


def test_trino_refuses_transactional_files_after_a_drop(run: Run) -> None:
    asked = (e for e in run.verdicts if "[hive-acid]" in e.variant and str(e.reader) == TRINO)
    refused = {verdict.step for verdict in asked if verdict.verdict is VerdictKind.REFUSED}
    assert refused == set(DROPPED)


def test_spark_shows_a_transactional_table_without_its_rows(run: Run) -> None:
    asked = [e for e in run.verdicts if "[hive-acid]" in e.variant and str(e.reader) == SPARK]
    kinds = {finding.kind for verdict in asked for finding in verdict.findings}
    assert kinds == {FindingKind.LOST_ROW}
    assert {verdict.verdict for verdict in asked} == {VerdictKind.WRONG}
