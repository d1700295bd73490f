"""Whose value was found in a wrong cell.

Most values tell it themselves: only one field has ever had them. Others (booleans, small decimals,
explicit values) fit several; then the pattern over the rows that were written alike decides, or
what the rest of the row shows, or nothing does and the cell is disputed. A NULL tells nothing
itself: it is taken for the value of the field that the column shows in the other rows, or of the
version that the row shows in the other columns, where that value is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.core.records import Origin
from harness.judge.origins import column_origins, row_origins, type_origins
from harness.judge.origins.value_origins import own_witness
from harness.judge.place import FoundRows, Place
from harness.judge.predicted_rows import PredictedRows
from harness.judge.world import World


def attribute(world: World, places: Sequence[Place], seen: FoundRows) -> tuple[Place, ...]:
    """Return the places with the origin of each cell, in the same order."""
    if world.predicted is not None:
        return tuple(_as_predicted(world, place, world.predicted) for place in places)
    own = [own_witness(world, place) for place in places]
    by_field = column_origins.wrong_columns(own)
    cells = column_origins.cells_of(world, seen) if any(place.disputed for place in own) else {}
    older = row_origins.older(world, own)
    for field_id, wrong in by_field.items():
        column_origins.moved_dates(own, wrong)
        column_origins.by_pattern(world, own, wrong, cells.get(field_id, ()))
        column_origins.by_neighbours(world, own, wrong, older)
    versions = row_origins.other_versions(world, own)
    own = row_origins.of_shown_version(world, own, versions)
    older = row_origins.older(world, own)
    shown = column_origins.shown_fields(world, own, older)
    named = type_origins.own_in_another(world, own)
    return tuple(
        row_origins.of_another_field(world, place, shown, older)
        or row_origins.as_of(world, place, versions)
        for place in named
    )


def _as_predicted(world: World, place: Place, predicted: PredictedRows) -> Place:
    """Take the origin of what the place was read from; nothing was read where there is none."""
    whole = place.column.partition("[")[0]
    origin = predicted.origins.get((place.key, whole))
    if origin and place.field and whole != place.column:
        own = world.root_of(origin.field_id) == world.root_of(place.field.id)
        origin = replace(origin, field_id=place.field.id) if own else origin
    return replace(place, origin=None if _own(world, place, origin) else origin, disputed=False)


def _own(world: World, place: Place, origin: Origin | None) -> bool:
    """Whether it is the very value that should be there: changed, it is nobody's any more."""
    if origin is None or place.field is None:
        return False
    step = world.expected_step(origin.field_id, place.key)
    return (origin.field_id, origin.key, origin.step) == (place.field.id, place.key, step)
