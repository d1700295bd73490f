"""What a column of right values in another type tells: that they are its own, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.checks import type_drift
from harness.checks.place import Place, What, World, leaves
from harness.model.canonical import same
from harness.model.truth import row_values


def own_in_another(world: World, places: Sequence[Place]) -> tuple[Place, ...]:
    """Settle disputed values that are the right ones in another type: they are their column's.

    Unless they are another field's as well, just as they are: then nothing decides.
    """
    drifted = {at: each.field.id for at, each in enumerate(places) if each.field and _drifted(each)}
    disputed = {field_id for at, field_id in drifted.items() if places[at].disputed}
    own = {
        each
        for each in disputed
        if _nobody_elses(
            world, [places[at] for at, field_id in drifted.items() if field_id == each]
        )
    }
    return tuple(
        replace(place, disputed=False) if drifted.get(at) in own else place
        for at, place in enumerate(places)
    )


def _drifted(place: Place) -> bool:
    """Tell whether a value is the right one in another type, and is not known to be another's."""
    if place.what is not What.CELL or place.field is None or place.found is None:
        return False
    others = place.origin is not None and place.origin.field_id != place.field.id
    return not others and type_drift.alike(place.expected, place.found)


def _nobody_elses(world: World, cells: Sequence[Place]) -> bool:
    """Tell whether no other field has had all of these values."""
    return not frozenset.intersection(*(_just_so(world, place) for place in cells))


def _just_so(world: World, place: Place) -> frozenset[int]:
    """Give the other fields of the row that ever had the very value, its type and all."""
    key = world.keys[place.key].key
    versions = ((truth.schema, truth.rows[key]) for truth in world.history if key in truth.rows)
    return frozenset(
        part.id
        for schema, row in versions
        for column, value in zip(schema.fields, row_values(row, schema), strict=True)
        for _, part, had in leaves(value, column, column.name)
        if same(had, place.found) and place.field is not None and part.id != place.field.id
    )
