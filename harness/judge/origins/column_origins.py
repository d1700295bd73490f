"""What a column tells: the pattern over rows that were written alike, and its other wrong cells."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from harness.judge.checks import altered_value
from harness.judge.origins.value_origins import (
    best,
    older_and_newer,
    origins_of,
    readings,
    tells_nothing,
)
from harness.judge.place import NULLS, FoundRows, Place, What, leaves
from harness.judge.world import World
from harness.model.canonical import Look, Value, look_of

Batch = tuple[object, int]
"""Rows that lie in the same file: a group's base file, or the log file that one step wrote. In a
table without file groups the files of one insert are alike, and their rows count as of one."""
BASE: Final = -1
GROUP: Final = -2
"""In a batch: all files of the group."""

PATTERN_ROWS: Final = 4
"""Fewer rows are no pattern: booleans agree by chance too easily."""
DAY: Final = datetime.timedelta(days=1)
"""A date moves by at most this when it is shown in another zone."""


def wrong_columns(places: Sequence[Place]) -> dict[int, list[int]]:
    """Return where the wrong cells of each field stand, those with a value."""
    found: dict[int, list[int]] = {}
    for at, place in enumerate(places):
        if place.what is What.CELL and place.field is not None and place.found is not None:
            found.setdefault(place.field.id, []).append(at)
    return found


def moved_dates(places: list[Place], at: Sequence[int]) -> None:
    """Clear the origin of dates that moved by a day: they are not other rows' dates.

    Neighbouring rows have neighbouring dates; but a moved column holds one that nobody wrote.
    """
    cells = [places[each] for each in at]
    moves = {_move(place) for place in cells}
    nobodys = any(place.origin is None and not place.disputed for place in cells)
    if len(moves) == 1 and None not in moves and nobodys:
        for each in at:
            places[each] = replace(places[each], origin=None, disputed=False)


def _move(place: Place) -> datetime.timedelta | None:
    expected, found = place.expected, place.found
    if type(expected) is not datetime.date or type(found) is not datetime.date:
        return None
    return found - expected if abs(found - expected) <= DAY else None


@dataclass(frozen=True, slots=True)
class FoundValue:
    """How a plain value looks that was found."""

    key: str
    found: Look
    readings: frozenset[Look]
    """The same, and what the value is in other types."""
    since: int
    """The latest step of what the row shows that tells whose it is: its version is no older."""


def cells_of(world: World, seen: FoundRows) -> dict[int, list[FoundValue]]:
    """Return every plain value that was found, right or wrong, by the field it should be of."""
    cells: dict[int, list[FoundValue]] = {}
    for key, columns in seen.items():
        row = [each for field, value in columns for each in leaves(value, field, field.name)]
        since = max((_step(world, key, found) for _, _, found in row), default=BASE)
        for _, leaf, found in row:
            looks = frozenset(readings(found))
            cells.setdefault(leaf.id, []).append(FoundValue(key, look_of(found), looks, since))
    return cells


def _step(world: World, key: str, found: Value) -> int:
    """Return the step that wrote a value, if it can only be this row's; else one before all."""
    origins = world.index.looks.get(look_of(found), ())
    told = len(origins) == 1 and origins[0].key == key and not tells_nothing(found)
    return origins[0].step if told else BASE


def batch_of(world: World, key: str) -> Batch:
    """Return the rows that a row lies in one file with, by its key's text."""
    row = world.keys[key]
    in_base = world.held.get(key) == row
    return row.group, BASE if in_base else max(row.written.values(), default=BASE)


def by_pattern(
    world: World, places: list[Place], at: Sequence[int], cells: Sequence[FoundValue]
) -> None:
    """Let the pattern over the rows decide what single values do not."""
    if not any(places[each].disputed for each in at):
        return
    own = next((field.id for each in at if (field := places[each].field)), None)
    batches = {batch_of(world, places[each].key) for each in at}
    for which in _together(batches):
        wrong = [each for each in at if batch_of(world, places[each].key) in which]
        rows = [cell for cell in cells if batch_of(world, cell.key) in which]
        # A column that lost its fractions has a pattern as well, and it may be another's.
        # So has a boolean column that is shown as numbers.
        cut = all(_may_be_its_own(places[each]) for each in wrong)
        chosen = None if cut else _only_fit(world, rows, own)
        for each in wrong if chosen is not None else ():
            places[each] = _decided(world, places[each], chosen)


def _together(batches: AbstractSet[Batch]) -> Iterator[AbstractSet[Batch]]:
    """Yield the batches whose rows may have been read alike: all, those of a group, and each.

    A reader that leaves out log files shows the base file for all rows of a group.
    """
    yield batches
    for group in {group for group, _ in batches}:
        yield {each for each in batches if each[0] == group}
    yield from ({each} for each in batches)


def _may_be_its_own(place: Place) -> bool:
    flag = isinstance(place.expected, bool) and isinstance(place.found, int)
    as_flag = flag and place.found == place.expected
    return as_flag or altered_value.near(place.expected, place.found)


def by_neighbours(
    world: World, places: list[Place], at: Sequence[int], older: Mapping[str, int]
) -> None:
    """Let the other wrong rows of the same file decide: what one field shows there, it shows here.

    This holds for values that tell whose they are, not for booleans.
    """
    told = [places[each] for each in at if not places[each].disputed]
    shown = shown_fields(world, told, older)
    for each in at:
        place = places[each]
        whose = (
            shown.get((place.field.id, lies(world, place.key, older)), ()) if place.field else ()
        )
        if len(whose) == 1:
            places[each] = _decided(world, place, *whose)


def _only_fit(world: World, rows: Sequence[FoundValue], own: int | None) -> int | None:
    """Return the one field whose values are those of all the rows; None for none or several.

    Another field's are of the version that the row shows; the column's `own` may be stale alone.
    """
    told = [cell for cell in rows if cell.found not in NULLS]
    if len({cell.key for cell in told}) < PATTERN_ROWS or len({cell.found for cell in told}) == 1:
        return None
    fields = {field_id for field_id, _ in world.index.cells}
    fits = [
        each
        for each in fields
        if all(_had(world, each, cell, BASE if each == own else cell.since) for cell in rows)
    ]
    return fits[0] if len(fits) == 1 else None


def _had(world: World, field_id: int, cell: FoundValue, since: int) -> bool:
    """Return whether a field had a value in a row, in the version of a step or in a later one."""
    versions = world.index.cells.get((field_id, cell.key), {})
    first = max((step for step in versions if step <= since), default=BASE)
    return any(cell.readings & looks for step, looks in versions.items() if step >= first)


def _decided(world: World, place: Place, field_id: int | None) -> Place:
    origins = [
        origin
        for origin in origins_of(world, place.found)
        if origin.key == place.key and origin.field_id == field_id
    ]
    if not place.disputed or not origins or older_and_newer(world, place, origins):
        return place
    return replace(place, origin=best(world, place, origins), disputed=False)


def lies(world: World, key: str, older: Mapping[str, int]) -> Batch:
    """Return the rows that a row counts as read with.

    One that shows an older version counts as one of the base file, as it is where a reader leaves
    out log files. A version that the base file does not have yet was read from its own log file,
    as it is where a reader shows an earlier step.
    """
    group, file = batch_of(world, key)
    if key not in older:
        return group, file
    held = world.held.get(key)
    in_base = max(held.written.values(), default=BASE) if held else BASE
    return group, older[key] if older[key] > in_base else BASE


def shown_fields(
    world: World, places: Sequence[Place], older: Mapping[str, int]
) -> dict[tuple[int, Batch], frozenset[int | None]]:
    """Return the fields that each column shows in each batch, where it is wrong and not NULL.

    Beside parts it is told of whole columns, and of whole file groups: a reader that leaves out
    log files shows its base file for all rows. `older`: the rows that show older versions.
    """
    shown: dict[tuple[int, Batch], frozenset[int | None]] = {}
    for place in places:
        if place.what is What.CELL and place.field is not None and place.found is not None:
            origin, batch = place.origin, lies(world, place.key, older)
            whose = origin.field_id if origin and origin.key == place.key else None
            root = whose if whose is None else world.root_of(whose)
            column = world.root_of(place.field.id)
            told = {(place.field.id, batch): whose, (column, (batch[0], GROUP)): root}
            for at, field_id in ({(column, batch): root} | told).items():
                shown[at] = shown.get(at, frozenset()) | {field_id}
    return shown
