"""Lost value: NULL where the field has a value, and no former name of it is the reason.

The least or the greatest value of others is one too: NULLs do not count for it.
"""

from __future__ import annotations

from harness.judge.place import VALUES, Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:
    """Return whether a value is simply not there."""
    if place.what is What.EXTREME and place.origin is not None and place.field is not None:
        own = place.origin.field_id == place.field.id
        return own and place.origin.step == world.expected_step(place.field.id, place.origin.key)
    return place.what in VALUES and place.found is None
