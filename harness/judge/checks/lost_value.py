"""Lost value: NULL where the field has a value, and no former name of it is the reason.

The least or the greatest value of others is one too: NULLs do not count for it.
"""

from __future__ import annotations

from harness.judge.difference import VALUES, Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a value is simply not there."""
    if (
        difference.kind is DifferenceKind.EXTREME
        and difference.origin is not None
        and difference.field is not None
    ):
        written = difference.origin.field_id == difference.field.id
        return written and difference.origin.step == state.expected_step(
            difference.field.id, difference.origin.key
        )
    return difference.kind in VALUES and difference.actual is None
