"""What the rest of a row tells: which version of it is shown, and whose its NULLs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.core.records import Origin
from harness.judge.checks import premature
from harness.judge.origins.column_origins import GROUP, Batch, batch_of, lies
from harness.judge.origins.value_origins import readings
from harness.judge.place import NULLS, Place, What
from harness.judge.world import World
from harness.model.canonical import Look, Value, look_of
from harness.model.schema import Field

ShownValue = tuple[Origin, Value]
"""A value that a row shows, and whose it is."""


def other_versions(world: World, places: Sequence[Place]) -> dict[str, int]:
    """Return the step whose version of a row is shown, for rows that show another version."""
    rows: dict[str, list[ShownValue]] = {}
    for place in places:
        origin, field = place.origin, place.field
        own = origin and field and origin.field_id == field.id
        if origin and own and (is_older(world, place) or premature.explains(place, world)):
            rows.setdefault(place.key, []).append((origin, place.found))
    return {key: _version_of(world, shown) for key, shown in rows.items()}


def _version_of(world: World, shown: Sequence[ShownValue]) -> int:
    """Return the step up to which a row was read, of which these values are shown.

    A boolean may be the same in several versions: then its origin is the latest of them, and the
    other values tell which it was. Where no version has them all, it is the latest origin.
    """
    steps = {step for each, _ in shown for step in _versions(world, each) if step <= each.step}
    whole = [step for step in steps if all(_had_after(world, step, each) for each in shown)]
    return max(whole or (each.step for each, _ in shown))


def _had_after(world: World, step: int, shown: ShownValue) -> bool:
    """Return whether a field had a value in its row after a step."""
    origin, value = shown
    versions = _versions(world, origin)
    written = max((each for each in versions if each <= step), default=None)
    return written is not None and not versions[written].isdisjoint(readings(value))


def _versions(world: World, origin: Origin) -> Mapping[int, frozenset[Look]]:
    return world.index.cells.get((origin.field_id, origin.key), {})


def is_older(world: World, place: Place) -> bool:
    """Return whether a value, of whatever field, is of an older version of its row."""
    origin = place.origin
    if origin is None or place.what is not What.CELL or origin.key != place.key:
        return False
    return world.older(origin, origin.field_id)


def older(world: World, places: Sequence[Place]) -> dict[str, int]:
    """Return the rows of which older versions are seen, and the step up to which each was read."""
    rows: dict[str, list[ShownValue]] = {}
    for place in places:
        if place.origin and is_older(world, place):
            rows.setdefault(place.key, []).append((place.origin, place.found))
    return {key: _version_of(world, shown) for key, shown in rows.items()}


def _of_version(world: World, place: Place, step: int) -> Place:
    """Take the place as of an older version of its row, where that holds the found value."""
    if place.what is not What.CELL or place.field is None:
        return place
    field_id = place.field.id
    versions = world.index.cells.get((field_id, place.key), {})
    written = max((each for each in versions if each <= step), default=None)
    looks = NULLS if written is None else versions[written]
    if look_of(place.found) not in looks:
        return place
    at = step if written is None else written
    name = world.at(at).schema.path_of(field_id) or place.column
    return replace(place, origin=Origin(field_id, name, at, place.key), disputed=False)


def of_shown_version(
    world: World, places: Sequence[Place], versions: Mapping[str, int]
) -> list[Place]:
    """Take disputed values for those of the version that a row shows, where the column allows it.

    A column that shows anything else in the same file group may be another's in these rows too.
    """
    taken = [
        _of_version(world, place, versions[place.key])
        if place.disputed and place.key in versions
        else place
        for place in places
    ]
    others = {_in_group(world, each) for each in taken if _of_another(each)}
    pairs = zip(places, taken, strict=True)
    return [old if old.disputed and _in_group(world, old) in others else new for old, new in pairs]


def _of_another(place: Place) -> bool:
    cell = place.what is What.CELL and place.field is not None and place.found is not None
    own = place.origin and place.field and place.origin.field_id == place.field.id
    return cell and not own


def _in_group(world: World, place: Place) -> tuple[int, object]:
    if place.what is not What.CELL or place.field is None:
        return 0, None
    return world.root_of(place.field.id), batch_of(world, place.key)[0]


def of_another_field(
    world: World,
    place: Place,
    shown: Mapping[tuple[int, Batch], frozenset[int | None]],
    older: Mapping[str, int],
) -> Place | None:
    """Take a NULL for that of the field which the column shows beside it, where it can be."""
    if place.what is not What.CELL or place.found is not None or place.field is None:
        return None
    batch, column = lies(world, place.key, older), world.root_of(place.field.id)
    where = [(place.field.id, batch), (column, batch)]
    if place.key in older:
        where.append((column, (batch[0], GROUP)))
    whose = next((shown[at] for at in where if at in shown), frozenset())
    parts = {_counterpart(world, each, place.field) for each in whose} | whose
    origins = (_null_of(world, place, each) for each in parts) if len(whose) == 1 else ()
    origin = next((each for each in origins if each), None)
    return replace(place, origin=origin) if origin else None


def _counterpart(world: World, column: int | None, part: Field) -> int | None:
    """Return the part of another column that has the path which a part has in its own."""
    path = (world.schema.path_of(part.id) or "").partition(".")[2]
    found = world.schema.by_id(column) if path and column is not None else None
    wanted = f"{world.schema.path_of(found.id)}.{path}" if found else ""
    inside = found.walk() if found else ()
    return next((each.id for each in inside if world.schema.path_of(each.id) == wanted), None)


def as_of(world: World, place: Place, versions: Mapping[str, int]) -> Place:
    """Take a NULL for that of the version which its row shows, where there is such a version."""
    null = place.what is What.CELL and place.found is None
    return (
        _of_version(world, place, versions[place.key]) if null and place.key in versions else place
    )


def _null_of(world: World, place: Place, field_id: int | None) -> Origin | None:
    """Return the version of another field of the row that is NULL, the latest.

    Versions of the row from before the field was added are NULL there as well.
    """
    own = place.field and (place.field.id, world.root_of(place.field.id))
    if field_id is None or not own or field_id in own:
        return None
    cells = world.index.cells
    versions = cells.get((field_id, place.key), {})
    rows = cells.get((world.key_id, place.key), {})
    first = min(versions, default=world.now.step + 1)
    steps = [each for each, looks in versions.items() if looks & NULLS and each <= world.now.step]
    steps += [each for each in rows if each < first]
    if not steps:
        return None
    name = world.at(max(steps)).schema.path_of(field_id) or ""
    return Origin(field_id, name, max(steps), place.key)
