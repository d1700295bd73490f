"""Resurrected: the value of a dropped field under the name that another field has taken."""

from __future__ import annotations

from harness.checks.place import Place, What, World


def explains(place: Place, world: World) -> bool:
    """Tell whether the value belongs to a dropped field that had this name."""
    if place.what is not What.CELL or place.origin is None or place.field is None:
        return False
    origin = place.origin
    gone = not world.live(origin.field_id)
    return gone and origin.key == place.key and origin.name == world.schema.path_of(place.field.id)
