"""Lost row: a row that the answer should show and does not, or a count that is too small."""

from __future__ import annotations

from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Return whether a row is absent, or fewer rows are counted than there are."""
    fewer = (
        difference.kind is DifferenceKind.COUNT
        and difference.counted
        and difference.actual < difference.expected
    )
    return difference.kind is DifferenceKind.ABSENT_ROW or fewer
