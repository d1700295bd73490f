"""Misaligned: another field's value under this name, as when files are read by position."""

from __future__ import annotations

from harness.judge.checks import resurrected
from harness.judge.place import VALUES, Place
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether the value belongs to another field, living or dropped under another name."""
    if place.what not in VALUES or place.origin is None or place.field is None:
        return False
    if place.origin.field_id == place.field.id or not place.own_row:
        return False
    # A field that came only later is of no column that the view could show.
    return not (world.unborn(place.origin.field_id) or resurrected.explains(place, world))
