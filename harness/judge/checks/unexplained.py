"""Unexplained: wrong, and nothing that the truth knows tells why. The gate always fails on it."""

from __future__ import annotations

from harness.judge.checks.place import Place, World


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Take what no other check took."""
    return True
