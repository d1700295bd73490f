"""Missing rename: NULL where the field has a value that was written under another name."""

from __future__ import annotations

from harness.judge.place import Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether files may hold the value under a name that is not today's."""
    if place.what is not What.CELL or place.found is not None or place.field is None:
        return False
    if place.empty:
        return False
    now = world.schema.path_of(place.field.id)
    return bool(world.names_held(place.field.id, place.key) - {now})
