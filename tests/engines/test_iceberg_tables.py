"""What Iceberg alone has, by a real Spark: partition fields, snapshots, deletes, default values."""

import pytest

from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.run.load_run import WRITE, Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK = "spark-3.5.8-iceberg-1.10.1"
REFUSED: dict[str, set[int]] = {
    "partition_fields/added": set(),
    "partition_fields/renamed": set(),
    "partition_fields/dropped": {15},
    "snapshots/rolled_back": set(),
    "snapshots/staged": {5, 13},
    "snapshots/branch_written": {15},
    "snapshots/tagged": set(),
    "snapshots/migrated": {12},
    "snapshots/delete_files": set(),
    "iceberg/killed_write": set(),
    "iceberg/not_null": {3, 6},
    "evolution/column_defaults": set(),
}
"""The steps that Iceberg refuses, of each scenario: a new column of the name of an old partition
field, the publication of a write that replaces files which are no longer the newest (by a branch,
of any write after another one), to expire snapshots of a table made by `snapshot`, and a NULL that
is forbidden."""
MIGRATED, DROPPED_AGAIN, WRITTEN_ANEW = "snapshots/migrated", 10, 13
WITHOUT = {"evolution/column_defaults": 14, "iceberg/not_null": 12, MIGRATED: DROPPED_AGAIN}
"""Since this step Iceberg 1.10.1 reads no file without the decimal that has a default value, or the
column in which NULL is forbidden; or takes a column that was dropped for a new one of its name."""


STORIES = {story.name: story for story in shipped(*REFUSED)}
PLAN = planned(
    list(STORIES.values()),
    ["iceberg"],
    [SPARK],
    [SPARK],
    axes={"rewrites": ("some",)},
    views=("snapshot", "tag", "branch"),
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_applied_is_read_right(name: str, run: Run) -> None:
    wrong = {
        verdict.case: verdict.findings
        for verdict in run.recorded.values()
        if verdict.scenario == name
        and verdict.view != WRITE
        and verdict.step < WITHOUT.get(name, len(STORIES[name].steps) + 1)
        and verdict.verdict is not VerdictKind.CORRECT
    }
    assert not wrong


def test_a_dropped_column_comes_back_until_the_files_of_the_plain_table_are_written_anew(
    run: Run,
) -> None:
    """An update writes all rows anew only where the table has no partitions."""
    late = [
        verdict
        for verdict in run.recorded.values()
        if verdict.scenario == MIGRATED and verdict.view != WRITE and verdict.step >= DROPPED_AGAIN
    ]
    wrong = [verdict for verdict in late if verdict.verdict is not VerdictKind.CORRECT]
    assert {verdict.step for verdict in wrong} == {*range(DROPPED_AGAIN, WRITTEN_ANEW)}
    assert {"partitioned=last" in verdict.variant for verdict in wrong} == {True}
    findings = {(one.kind, one.columns) for verdict in wrong for one in verdict.findings}
    assert findings == {(FindingKind.RESURRECTED, ("f2",))}


@pytest.mark.parametrize("name", REFUSED)
def test_iceberg_refuses_what_it_cannot_do(name: str, run: Run) -> None:
    states = [state for state in run.states if state.variant.startswith(f"{name}[")]
    refused = {
        record.outcome.step for record in states if record.outcome.kind is OutcomeKind.REFUSED
    }
    assert states
    assert refused == REFUSED[name]
    assert not [record.layout for record in states if record.layout]
