"""Stale: an older value of the same field, or the columns of an earlier schema."""

from __future__ import annotations

from harness.judge.place import VALUES, Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether the value is an older one, or all the columns are those of an earlier step."""
    if place.what in {What.EXTRA_COLUMN, What.ABSENT_COLUMN}:
        return place.origin is not None and place.origin.step <= world.step
    return place.what in VALUES and _older_value(place, world)


def _older_value(place: Place, world: World) -> bool:
    origin, field = place.origin, place.field
    if origin is None or field is None or origin.field_id != field.id or not place.own_row:
        return False
    return origin.step < world.expected_step(field.id, origin.key)
