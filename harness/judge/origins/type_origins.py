"""What a column of right values in another type tells: that they are its own, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.judge.checks import type_drift
from harness.judge.difference import Difference, DifferenceKind, leaves
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import same
from harness.model.truth import row_values


def settle_other_types(
    state: ExpectedState, differences: Sequence[Difference]
) -> tuple[Difference, ...]:
    """Settle disputed values that are the right ones in another type: they are their column's.

    Unless they are another field's as well, just as they are: then nothing decides.
    """
    if not any(difference.disputed for difference in differences):
        return tuple(differences)
    drifted: dict[int, list[Difference]] = {}
    for difference in differences:
        if difference.field is not None and _drifted(difference, state):
            drifted.setdefault(difference.field.id, []).append(difference)
    versions = {
        id(cell)
        for cells in drifted.values()
        if any(cell.disputed for cell in cells) and _nobody_elses(state, cells)
        for cell in cells
    }
    return tuple(
        replace(difference, disputed=False) if id(difference) in versions else difference
        for difference in differences
    )


def _drifted(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a cell is but for a dispute the right one in another type."""
    return difference.kind is DifferenceKind.CELL and type_drift.explains(
        replace(difference, disputed=False), state
    )


def _nobody_elses(state: ExpectedState, cells: Sequence[Difference]) -> bool:
    """Return whether no other field has had all of these values."""
    return not frozenset.intersection(*(_just_so(state, difference) for difference in cells))


def _just_so(state: ExpectedState, difference: Difference) -> frozenset[int]:
    """Return the other fields of the row that ever had the very value, its type and all."""
    key = state.keys[difference.key].key
    versions = ((truth.schema, truth.rows[key]) for truth in state.history if key in truth.rows)
    return frozenset(
        part.id
        for schema, row in versions
        for column, value in zip(schema.fields, row_values(row, schema), strict=True)
        for _, part, had in leaves(value, column, column.name)
        if same(had, difference.actual)
        and difference.field is not None
        and part.id != difference.field.id
    )
