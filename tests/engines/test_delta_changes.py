"""What was written to Delta tables since a step, by their change data feed."""

import pytest

from harness.core.records import OutcomeKind, VerdictKind
from harness.model.commit import INCREMENTAL
from harness.model.past_views import name_of
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK, TRINO = "spark-3.5.8-delta-3.3.2", "trino-476"
RENAMED, OVERWRITTEN = {10, 11}, {14, 15}
"""The steps after which the changes asked for are of before and after a rename; after which they
have those of an overwrite, for which Delta writes no file of changes."""
WORDS = {
    SPARK: "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA",
    TRINO: "Version contains 'remove' entries without 'cdc' entries",
}
PLAN = planned(
    shipped("delta/change_data_feed"),
    ["delta"],
    [SPARK],
    [SPARK, TRINO],
    axes={"column_mapping": ("name",), "deletion_vectors": ("off",)},
    views=(INCREMENTAL,),
)


def test_every_step_is_applied(run: Run) -> None:
    assert {state.outcome.kind for state in run.states} == {OutcomeKind.APPLIED}


def test_every_answer_is_right_or_refused_in_the_readers_own_words(run: Run) -> None:
    assert {name_of(verdict.view) for verdict in run.verdicts} == {INCREMENTAL}
    refused = {
        (str(verdict.reader), verdict.step): run.answers[verdict.case].refusal
        for verdict in run.verdicts
        if verdict.verdict is not VerdictKind.CORRECT
    }
    assert set(refused) == {(SPARK, step) for step in RENAMED} | {
        (TRINO, step) for step in OVERWRITTEN
    }
    for (reader, _), refusal in refused.items():
        assert refusal is not None
        assert WORDS[reader] in refusal.message
