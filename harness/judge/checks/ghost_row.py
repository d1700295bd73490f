"""Ghost row: one that is not to be there, or that the predicate leaves out; so a count too great.

It was deleted, or an update of a key that no row has made it.
"""

from __future__ import annotations

from harness.judge.place import Place, What
from harness.judge.world import World
from harness.model.canonical import text_of


def explains(place: Place, world: World) -> bool:
    """Return whether an earlier step deleted the row, or none was to make it, or none asks for it.

    An extreme may be the value of such a row.
    """
    if place.what is What.COUNT:
        return place.counted and place.found > place.expected
    if place.what is What.EXTREME and place.origin is not None:
        return place.origin.key not in world.keys
    now = world.history[-1]
    never = (key for sent in now.contested.values() for key in sent)
    gone = (*now.gone, *world.left_out, *never)
    return place.what is What.EXTRA_ROW and place.key in map(text_of, gone)
