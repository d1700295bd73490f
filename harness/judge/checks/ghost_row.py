"""Ghost row: one that is not to be there, or that the predicate leaves out; so a count too great.

It was deleted, or an update of a key that no row has made it.
"""

from __future__ import annotations

from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import text_of


def explains(difference: Difference, state: ExpectedState) -> bool:
    """Return whether an earlier step deleted the row, or none was to make it, or none asks for it.

    An extreme may be the value of such a row.
    """
    if difference.kind is DifferenceKind.COUNT:
        return difference.counted and difference.actual > difference.expected
    if difference.kind is DifferenceKind.EXTREME and difference.origin is not None:
        return difference.origin.key not in state.keys
    now = state.history[-1]
    never = (key for sent in now.contested.values() for key in sent)
    gone = (*now.gone, *state.left_out, *never)
    return difference.kind is DifferenceKind.EXTRA_ROW and difference.key in map(text_of, gone)
