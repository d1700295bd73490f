"""PyIceberg: what it makes of tables that changed, in each shape of question and in the past."""

import pytest

from harness.core.records import FindingKind, VerdictKind
from harness.plan import Writer
from harness.run.load_run import Run
from harness.scenario.cells import QUERIES
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

READER = "pyiceberg-0.12.0"
STORY, VALUES, AGAIN = "iceberg/by_field_id", "iceberg/hard_values", "iceberg/name_given_again"
WRITER = "spark-3.5.8-iceberg-1.10.1"
DROPPED, ADDED = 2, 3
"""The steps of `AGAIN` by which a name loses its column, and gets another."""


PLAN = planned(
    shipped(STORY, VALUES, AGAIN),
    ["iceberg"],
    [WRITER, Writer(WRITER, {"delete_mode": "merge-on-read"})],
    [READER],
    axes={"rewrites": ("some",)},
    queries=QUERIES,
    views=("snapshot", "as_of"),
)


def test_all_of_now_is_right(run: Run) -> None:
    now = [verdict for verdict in run.verdicts if verdict.view == "snapshot"]
    assert {verdict.verdict for verdict in now} == {VerdictKind.CORRECT}
    assert {verdict.query.partition("(")[0] for verdict in now} >= {
        "all",
        "predicate",
        "min",
        "both",
    }


def test_a_condition_on_the_past_goes_by_the_names_of_now(run: Run) -> None:
    past = [
        verdict
        for verdict in run.verdicts
        if verdict.scenario == AGAIN and verdict.view != "snapshot"
    ]
    odd = {verdict.step: verdict for verdict in past if verdict.verdict != VerdictKind.CORRECT}
    assert {verdict.query for verdict in odd.values()} == {"unchanged(f1)"}
    assert odd.pop(DROPPED).verdict == VerdictKind.REFUSED
    assert {*odd} >= {ADDED}
    for lost in odd.values():
        assert {finding.kind for finding in lost.findings} == {FindingKind.LOST_ROW}
