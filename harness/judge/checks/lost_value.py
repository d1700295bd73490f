"""Lost value: NULL where the field has a value, and no former name of it is the reason."""

from __future__ import annotations

from harness.judge.place import Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Return whether a value is simply not there."""
    return place.what is What.CELL and place.found is None
