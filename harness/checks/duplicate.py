"""Duplicate: a row that is there once and answered twice."""

from __future__ import annotations

from harness.checks.place import Place, What, World


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Tell whether the key was answered before."""
    return place.what is What.SECOND_ROW
