"""What a column of right values in another type tells: that they are its own, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.judge.checks import type_drift
from harness.judge.place import Place, What, leaves
from harness.judge.world import World
from harness.model.canonical import same
from harness.model.truth import row_values


def own_in_another(world: World, places: Sequence[Place]) -> tuple[Place, ...]:
    """Settle disputed values that are the right ones in another type: they are their column's.

    Unless they are another field's as well, just as they are: then nothing decides.
    """
    if not any(each.disputed for each in places):
        return tuple(places)
    drifted: dict[int, list[Place]] = {}
    for each in places:
        if each.field is not None and _drifted(each, world):
            drifted.setdefault(each.field.id, []).append(each)
    own = {
        id(each)
        for cells in drifted.values()
        if any(each.disputed for each in cells) and _nobody_elses(world, cells)
        for each in cells
    }
    return tuple(replace(each, disputed=False) if id(each) in own else each for each in places)


def _drifted(place: Place, world: World) -> bool:
    """Return whether a cell is but for a dispute the right one in another type."""
    return place.what is What.CELL and type_drift.explains(replace(place, disputed=False), world)


def _nobody_elses(world: World, cells: Sequence[Place]) -> bool:
    """Return whether no other field has had all of these values."""
    return not frozenset.intersection(*(_just_so(world, place) for place in cells))


def _just_so(world: World, place: Place) -> frozenset[int]:
    """Return the other fields of the row that ever had the very value, its type and all."""
    key = world.keys[place.key].key
    versions = ((truth.schema, truth.rows[key]) for truth in world.history if key in truth.rows)
    return frozenset(
        part.id
        for schema, row in versions
        for column, value in zip(schema.fields, row_values(row, schema), strict=True)
        for _, part, had in leaves(value, column, column.name)
        if same(had, place.found) and place.field is not None and part.id != place.field.id
    )
