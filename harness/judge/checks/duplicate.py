"""Duplicate: a row or a column that is there once and answered twice."""

from __future__ import annotations

from harness.judge.place import Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether the key was answered before, or the column was."""
    if place.what is What.EXTRA_COLUMN:
        return place.field is None and place.column in world.schema.names
    return place.what is What.SECOND_ROW
