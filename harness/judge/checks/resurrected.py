"""Resurrected: the value of a dropped field under the name that another field has taken."""

from __future__ import annotations

from harness.judge.place import VALUES, Place
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether the value belongs to a dropped field that ever had this name.

    It may have been written under another one: a file that was rewritten after a rename names
    every value, old ones too, as the field was called then.
    """
    if place.what not in VALUES or place.origin is None or place.field is None:
        return False
    origin, name = place.origin, world.schema.path_of(place.field.id)
    gone = not world.live(origin.field_id)
    return gone and place.own_row and name in world.names_of(origin.field_id)
