"""Stale: an older value of the same field, one that was taken back, or columns of earlier.

Older is also what was written later with a smaller ordering value, where the table goes by that.
"""

from __future__ import annotations

from harness.judge.difference import VALUES, Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value is an older one, or one that a restore or a rollback took back.

    Of columns: whether all are those of an earlier step.
    """
    if difference.kind in {DifferenceKind.EXTRA_COLUMN, DifferenceKind.ABSENT_COLUMN}:
        return difference.origin is not None and difference.origin.step <= state.step
    return difference.kind in VALUES and _older_value(difference, state)


def _older_value(difference: Difference, state: ExpectedState) -> bool:
    origin, field = difference.origin, difference.field
    if origin is None or field is None or origin.field_id != field.id or not difference.of_its_row:
        return False
    return state.older(origin, field.id) or origin.step in state.history[-1].undone
