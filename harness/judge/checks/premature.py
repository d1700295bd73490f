"""Premature: what only log files hold, or later steps, in a view that shows neither."""

from __future__ import annotations

from harness.judge.difference import VALUES, Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the row is as a newer table has it, or gone as it is gone there.

    Of columns: whether they are those of a later step than the one the view goes back to. The value
    of a field that came after that step is early under whatever name, and so is its NULL under
    the name that it has taken over.
    """
    if state.newer is None:
        return False
    if difference.kind in {DifferenceKind.EXTRA_COLUMN, DifferenceKind.ABSENT_COLUMN}:
        return difference.origin is not None and difference.origin.step > state.step
    if difference.kind in {DifferenceKind.EXTRA_ROW, DifferenceKind.ABSENT_ROW}:
        return difference.origin is not None
    return difference.kind in VALUES and (
        _newer_value(difference, state) or _null_of_newer(difference, state)
    )


def _newer_value(difference: Difference, state: ExpectedState) -> bool:
    origin, field = difference.origin, difference.field
    if origin is None or field is None or not difference.of_its_row:
        return False
    if origin.field_id != field.id:
        return state.unborn(origin.field_id)
    return state.expected_step(field.id, origin.key) < origin.step <= state.now.step


def _null_of_newer(difference: Difference, state: ExpectedState) -> bool:
    return (
        difference.actual is None
        and difference.field is not None
        and state.named_later(difference.field)
    )
