"""Missing rename: NULL where the field has a value that was written under another name."""

from __future__ import annotations

from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether files may hold the value under a name that is not today's."""
    if (
        difference.kind is not DifferenceKind.CELL
        or difference.actual is not None
        or difference.field is None
    ):
        return False
    if difference.empty:
        return False
    now = state.schema.path_of(difference.field.id)
    return bool(state.stored_names_of(difference.field.id, difference.key) - {now})
