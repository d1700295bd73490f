"""Unexplained: wrong, and nothing that the truth knows tells why. The gate always fails on it."""

from __future__ import annotations

from harness.judge.difference import Difference
from harness.judge.expected_state import ExpectedState


def explains(difference: Difference, state: ExpectedState) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Take what no other check took."""
    return True
