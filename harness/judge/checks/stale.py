"""Stale: an older value of the same field, one that was taken back, or columns of earlier.

Older is also what was written later with a smaller ordering value, where the table goes by that.
"""

from __future__ import annotations

from harness.judge.place import VALUES, Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether the value is an older one, or one that a restore or a rollback took back.

    Of columns: whether all are those of an earlier step.
    """
    if place.what in {What.EXTRA_COLUMN, What.ABSENT_COLUMN}:
        return place.origin is not None and place.origin.step <= world.step
    return place.what in VALUES and _older_value(place, world)


def _older_value(place: Place, world: World) -> bool:
    origin, field = place.origin, place.field
    if origin is None or field is None or origin.field_id != field.id or not place.own_row:
        return False
    return world.older(origin, field.id) or origin.step in world.history[-1].undone
