"""Stale: an older value of the same field, or the columns of an earlier schema."""

from __future__ import annotations

from harness.checks.place import Place, What, World


def explains(place: Place, world: World) -> bool:
    """Tell whether the value or the column is what an earlier step showed here."""
    steps = range(len(world.history) - 1)
    match place.what:
        case What.CELL:
            return _older_value(place, world)
        case What.EXTRA_COLUMN:
            return any(world.has_column(place.column, step) for step in steps)
        case What.ABSENT_COLUMN:
            return any(not world.has_column(place.column, step) for step in steps)
    return False


def _older_value(place: Place, world: World) -> bool:
    origin, field = place.origin, place.field
    if origin is None or field is None or origin.field_id != field.id or origin.key != place.key:
        return False
    return origin.step < world.expected_step(field.id, place.key)
