"""Whose value was found in a wrong cell.

Most values tell it themselves: only one field has ever had them. Others (booleans, small decimals,
explicit values) fit several; then the pattern over the rows that were written alike decides, or
what the rest of the row shows, or nothing does and the cell is disputed. A NULL tells nothing
itself: it is taken for the value of the field that the column shows in the other rows, or of the
version that the row shows in the other columns, where that value is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.core.records import Origin
from harness.judge.difference import Difference, ShownRows
from harness.judge.expected_state import ExpectedState
from harness.judge.origins import column_origins, row_origins, type_origins
from harness.judge.origins.value_origins import origin_by_value
from harness.judge.predicted_rows import PredictedRows


def attribute(
    state: ExpectedState, differences: Sequence[Difference], seen: ShownRows
) -> tuple[Difference, ...]:
    """Return the places with the origin of each cell, in the same order."""
    if state.predicted is not None:
        return tuple(
            _as_predicted(state, difference, state.predicted) for difference in differences
        )
    right_field = [origin_by_value(state, difference) for difference in differences]
    by_field = column_origins.wrong_columns(right_field)
    cells = (
        column_origins.cells_of(state, seen)
        if any(difference.disputed for difference in right_field)
        else {}
    )
    older = row_origins.older(state, right_field)
    for field_id, wrong in by_field.items():
        column_origins.moved_dates(right_field, wrong)
        column_origins.by_pattern(state, right_field, wrong, cells.get(field_id, ()))
        column_origins.by_neighbours(state, right_field, wrong, older)
    versions = row_origins.other_versions(state, right_field)
    right_field = row_origins.of_shown_version(state, right_field, versions)
    older = row_origins.older(state, right_field)
    shown = column_origins.shown_fields(state, right_field, older)
    named = type_origins.settle_other_types(state, right_field)
    return tuple(
        row_origins.of_another_field(state, difference, shown, older)
        or row_origins.as_of(state, difference, versions)
        for difference in named
    )


def _as_predicted(
    state: ExpectedState, difference: Difference, predicted: PredictedRows
) -> Difference:
    """Take the origin of what the place was read from; nothing was read where there is none."""
    whole = difference.column.partition("[")[0]
    origin = predicted.origins.get((difference.key, whole))
    if origin and difference.field and whole != difference.column:
        own = state.root_of(origin.field_id) == state.root_of(difference.field.id)
        origin = replace(origin, field_id=difference.field.id) if own else origin
    return replace(
        difference, origin=None if _own(state, difference, origin) else origin, disputed=False
    )


def _own(state: ExpectedState, difference: Difference, origin: Origin | None) -> bool:
    """Whether it is the very value that should be there: changed, it is nobody's any more."""
    if origin is None or difference.field is None:
        return False
    step = state.expected_step(origin.field_id, difference.key)
    return (origin.field_id, origin.key, origin.step) == (difference.field.id, difference.key, step)
