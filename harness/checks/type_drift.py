"""Type drift: the right value in another type, or a column declared with another type."""

from __future__ import annotations

from harness.checks.place import Place, What, World
from harness.model.canonical import text_of


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Tell whether only the type differs."""
    if place.what is What.COLUMN_TYPE:
        return True
    if place.what is not What.CELL or place.found is None or place.expected is None:
        return False
    return text_of(place.found) == text_of(place.expected)
