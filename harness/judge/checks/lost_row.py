"""Lost row: a row that the answer should show and does not, or a count that is too small."""

from __future__ import annotations

from harness.judge.place import Place, What
from harness.judge.world import World


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Return whether a row is absent, or fewer rows are counted than there are."""
    fewer = place.what is What.COUNT and place.counted and place.found < place.expected
    return place.what is What.ABSENT_ROW or fewer
