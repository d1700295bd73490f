"""Columns of a Delta table that got wider types by Delta 4, which Trino leaves out."""

import pytest

from harness.core.records import OutcomeKind, VerdictKind
from harness.run.load_run import Run
from harness.scenario.operations.columns import ChangeType
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SPARK, TRINO = "spark-4.0.1-delta-4.0.0", "trino-476"
(STORY,) = shipped("delta/type_widening")
KNOWN = {"smallint", "int"}
"""The types to which Trino knows a column to be widened."""
PLAN = planned(
    [STORY],
    ["delta"],
    [SPARK],
    [SPARK, TRINO],
    axes={"rewrites": ("some",), "column_mapping": ("none",), "type_widening": ("on",)},
)


def widened(step: int) -> set[str]:
    changes = (step_.operation for step_ in STORY.steps[:step])
    return {
        change.name.partition(".")[0]
        for change in changes
        if isinstance(change, ChangeType) and str(change.to) not in KNOWN
    }


def test_every_type_is_widened_by_delta_4(run: Run) -> None:
    assert {state.outcome.kind for state in run.states} == {OutcomeKind.APPLIED}
    assert not any(state.layout for state in run.states)


def test_trino_leaves_out_the_columns_whose_wider_type_it_does_not_know(run: Run) -> None:
    for verdict in run.verdicts:
        shown = {column.name for column in run.answers[verdict.case].columns}
        left_out = {name for name, _ in STORY.table.columns} - shown
        assert left_out == (widened(verdict.step) if str(verdict.reader) == TRINO else set())
        assert (verdict.verdict is VerdictKind.WRONG) is bool(left_out)
