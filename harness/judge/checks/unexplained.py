"""Unexplained: wrong, and nothing that the truth knows tells why. The gate always fails on it."""

from __future__ import annotations

from harness.judge.place import Place
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Take what no other check took."""
    return True
