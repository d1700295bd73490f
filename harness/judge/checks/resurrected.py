"""Resurrected: the value of a dropped field under the name that another field has taken."""

from __future__ import annotations

from harness.judge.difference import VALUES, Difference
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value belongs to a dropped field that ever had this name.

    It may have been written under another one: a file that was rewritten after a rename names
    every value, old ones too, as the field was called then.
    """
    if difference.kind not in VALUES or difference.origin is None or difference.field is None:
        return False
    origin, name = difference.origin, state.schema.path_of(difference.field.id)
    gone = not state.live(origin.field_id)
    return gone and difference.of_its_row and name in state.names_of(origin.field_id)
