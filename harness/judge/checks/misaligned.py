"""Misaligned: another field's value under this name, as when files are read by position."""

from __future__ import annotations

from harness.judge.checks import resurrected
from harness.judge.difference import VALUES, Difference
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value belongs to another field, living or dropped under another name."""
    if difference.kind not in VALUES or difference.origin is None or difference.field is None:
        return False
    if difference.origin.field_id == difference.field.id or not difference.of_its_row:
        return False
    # A field that came only later is of no column that the view could show.
    return not (state.unborn(difference.origin.field_id) or resurrected.explains(difference, state))
