"""Delta's columns that are generated, numbered, or have a default, as real writers leave them."""

import pytest

from harness.core.records import OutcomeKind, VerdictKind
from harness.run.load_run import WRITE, Run
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK = "spark-4.1.4-delta-4.4.0"
OPTIONS = "delta_features/column_options"
GENERATED = "delta_features/generated_columns"
PLAN = planned(
    shipped(OPTIONS, GENERATED),
    ["delta"],
    [SPARK],
    [SPARK, "deltalake-1.6.6", "duckdb-1.5.5"],
    axes={"column_mapping": ("none", "name"), "deletion_vectors": ("on", "off")},
)


def test_what_the_writer_worked_out_is_right_and_every_reader_shows_it(run: Run) -> None:
    read = [verdict for verdict in run.verdicts if verdict.view != WRITE]
    assert {str(verdict.reader) for verdict in read} == {str(cell.reader) for cell in PLAN.cells}
    assert {verdict.verdict for verdict in read} == {VerdictKind.CORRECT}


def test_others_refuse_to_write_where_they_do_not_know_the_features(run: Run) -> None:
    refused: dict[str, set[int]] = {}
    for state in run.states:
        steps = refused.setdefault(state.variant, set())
        if state.outcome.kind is OutcomeKind.REFUSED:
            steps.add(state.outcome.step)
    of_others = {9, 10, 11, 12}  # delta-rs, Trino, DuckDB, Polars
    for variant, steps in refused.items():
        if variant.startswith(GENERATED):
            assert steps == {5}, "delta-rs's merge works out nothing anew"
        else:
            renames = "column_mapping=name" in variant
            assert steps == of_others | (set() if renames else {13})
