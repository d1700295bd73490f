"""Duplicate: a row or a column that is there once and answered twice."""

from __future__ import annotations

from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the key was answered before, or the column was."""
    if difference.kind is DifferenceKind.EXTRA_COLUMN:
        return difference.field is None and difference.column in state.schema.names
    return difference.kind is DifferenceKind.SECOND_ROW
