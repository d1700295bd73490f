"""Types of Delta's and Iceberg's tables by real readers: each comes out as docs/types.md has it."""

import pytest

from harness.plan import Writer
from harness.run.load_run import Run
from tests.builders import replay, type_matrix
from tests.builders.type_matrix import MatrixCell
from tests.engines.planned_run import merge, planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

STORIES = shipped("type_mapping/every_type", "type_mapping/every_type_inside")
ZONED = Writer("spark-3.5.8-iceberg-1.10.1", settings={"moments": "timestamptz"})
PLAN = merge(
    (
        planned(
            STORIES,
            ["delta"],
            ["spark-3.5.8-delta-3.3.2"],
            ["trino-476", "duckdb-1.5.5", "deltalake-1.6.6"],
        ),
        planned(STORIES, ["iceberg"], [ZONED], ["trino-476", "pyiceberg-0.12.0"]),
    )
)

Outcome = tuple[str, tuple[str, ...], tuple[str, ...]]


def outcome(cell: MatrixCell) -> Outcome:
    return str(cell.outcome), cell.declarations, cell.findings


def by_type(cells: tuple[MatrixCell, ...]) -> dict[tuple[str, str, bool, str], Outcome]:
    return {(c.tables, c.type, c.inside, c.reader): outcome(c) for c in cells}


def test_each_type_comes_out_as_it_was_recorded(run: Run) -> None:
    recorded = by_type(type_matrix.matrix())
    variants = replay.recorded_from(run)
    now = by_type(tuple(c for variant in variants for c in type_matrix.cells_of(variant)))
    assert {tables for tables, *_ in now} == {"delta", "iceberg moments=timestamptz"}
    assert now == {at: recorded.get(at) for at in now}
