"""Lost row: a row that the table has and the answer has not."""

from __future__ import annotations

from harness.checks.place import Place, What, World


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Tell whether a row is absent."""
    return place.what is What.ABSENT_ROW
