"""Premature: what only log files hold, or later steps, in a view that shows neither."""

from __future__ import annotations

from harness.judge.place import VALUES, Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether the row is as a newer table has it, or gone as it is gone there.

    Of columns: whether they are those of a later step than the one the view goes back to. The value
    of a field that came after that step is early under whatever name, and so is its NULL under
    the name that it has taken over.
    """
    if world.newer is None:
        return False
    if place.what in {What.EXTRA_COLUMN, What.ABSENT_COLUMN}:
        return place.origin is not None and place.origin.step > world.step
    if place.what in {What.EXTRA_ROW, What.ABSENT_ROW}:
        return place.origin is not None
    return place.what in VALUES and (_newer_value(place, world) or _null_of_newer(place, world))


def _newer_value(place: Place, world: World) -> bool:
    origin, field = place.origin, place.field
    if origin is None or field is None or not place.own_row:
        return False
    if origin.field_id != field.id:
        return world.unborn(origin.field_id)
    return world.expected_step(field.id, origin.key) < origin.step <= world.now.step


def _null_of_newer(place: Place, world: World) -> bool:
    return place.found is None and place.field is not None and world.named_later(place.field)
