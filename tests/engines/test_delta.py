"""Delta tables with later mapping, marked rows and killed writers, read by four engines."""

import pytest

from harness.core.records import FindingKind, OutcomeKind, VerdictKind
from harness.run.load_run import Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK = "spark-3.5.8-delta-3.3.2"
DUCKDB = "duckdb-1.5.5"
READERS = (SPARK, "trino-476", "deltalake-1.6.6", DUCKDB)
PARTITIONS = "delta/partitions"
NAMES = ("column_mapping", "deletion_vectors", "killed_write", "partitions")
PLAN = planned(
    shipped(*(f"delta/{name}" for name in NAMES)),
    ["delta"],
    [SPARK],
    READERS,
    axes={"rewrites": ("some",), "column_mapping": ("name", "later")},
)


def test_every_step_is_applied_and_files_are_as_the_truth_says(run: Run) -> None:
    assert run.states
    assert {state.outcome.kind for state in run.states} == {OutcomeKind.APPLIED}
    assert not any(state.layout for state in run.states)


def test_every_reader_is_right_after_every_step_but_duckdb_of_mapped_partitions(run: Run) -> None:
    odd = [verdict for verdict in run.verdicts if verdict.verdict is not VerdictKind.CORRECT]
    assert {(verdict.scenario, str(verdict.reader)) for verdict in odd} == {(PARTITIONS, DUCKDB)}
    for of_duckdb in odd:
        assert "column_mapping=name" in of_duckdb.variant
        assert [(finding.kind, finding.columns) for finding in of_duckdb.findings] == [
            (FindingKind.LOST_VALUE, ("p",))
        ]
    assert {str(cell.reader) for cell in PLAN.cells} == set(READERS)
