"""Ghost row: a row that was deleted."""

from __future__ import annotations

from harness.checks.place import Place, What, World
from harness.model.canonical import text_of


def explains(place: Place, world: World) -> bool:
    """Tell whether the row is one that an earlier step deleted."""
    gone = {text_of(key) for key in world.history[-1].gone}
    return place.what is What.EXTRA_ROW and place.key in gone
