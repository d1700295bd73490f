"""Where one table differs from the one that the truth expects.

Nothing is tolerated: a value is the same or it is a place. The order of rows and columns does not
count. A column that is absent or too many has the step whose columns were answered as its origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from harness.core.records import Column, Origin
from harness.judge import match_rows
from harness.judge.match_rows import FoundRow, Matching
from harness.judge.place import FoundRows, Place, What, leaves
from harness.judge.world import World
from harness.model.canonical import MapValue, Value, look_of, same, text_of
from harness.model.datatypes import DataType
from harness.model.query import Query, at
from harness.model.schema import Field
from harness.model.truth import Row


@dataclass(frozen=True, slots=True)
class RowComparison:
    """The rows of a table beside those of a world."""

    world: World
    names: tuple[str, ...]
    """What the columns of the table are called."""
    matching: Matching
    seen: FoundRows
    cells: tuple[Place, ...]
    """The wrong values of rows that are there."""
    lost: tuple[Place, ...]
    """The values of rows that came as nothing but NULLs."""
    whole_rows: tuple[Place, ...]
    """The rows that are too many, there twice, or absent."""

    @property
    def places(self) -> tuple[Place, ...]:
        """All that is wrong with rows."""
        return (*self.cells, *self.lost, *self.whole_rows)


def wrong_aggregate(
    world: World, query: Query, columns: Sequence[Column], rows: Sequence[FoundRow]
) -> Iterator[Place]:
    """Yield the place of a count or an extreme that is wrong; `world` is narrowed to its rows."""
    found = rows[0][0] if len(columns) == 1 == len(rows) else tuple(rows)
    expected = aggregate(world, query)
    if same(found, expected):
        return
    if query.count:
        yield Place(What.COUNT, "", query.label, expected, found)
    else:
        field = world.schema.find(query.columns[0])
        origins = world.index.looks.get(look_of(found), ())
        owner = _owner(world, field, origins)
        disputed = owner is None and bool(origins)
        yield Place(What.EXTREME, "", query.label, expected, found, field, owner, disputed)


def _owner(world: World, field: Field, origins: Sequence[Origin]) -> Origin | None:
    """Return whose value an extreme is; None where values of several fields look so.

    Of several rows of one field, one that the question asks for is the owner.
    """
    if len({each.field_id for each in origins}) != 1:
        return None
    asked = (e for e in origins if e.step == world.expected_step(field.id, e.key))
    return next(asked, origins[-1] if len(origins) == 1 else None)


def aggregate(world: World, query: Query) -> Value:
    """Return what a count or an extreme of the rows of a narrowed world must be."""
    names = world.schema.names
    rows = (tuple(world.shown(row).values()) for row in world.rows.values())
    return query.answer(names, rows)[0][0]


def compare_rows(
    world: World,
    columns: Sequence[Column],
    rows: Sequence[FoundRow],
    asked: Sequence[str] | None = None,
) -> RowComparison:
    """Compare the rows of a table with those of a world; `asked`: the columns, None for all."""
    names = tuple(column.name for column in columns)
    wanted = tuple(world.schema.names if asked is None else asked)
    known = [name for name in wanted if name in names and world.schema.has(name)]
    fields = [(world.schema.find(name), names.index(name)) for name in known]
    matching = match_rows.match(world, names, rows)
    seen = {
        text_of(row.key): [(field, values[at]) for field, at in fields]
        for row, values in matching.pairs
    }
    cells = (_row(world, row, known, seen[text_of(row.key)]) for row, _ in matching.pairs)
    lost = (_empty(world, row, known) for row, _ in matching.empty)
    whole = tuple(_whole_rows(world, matching, wanted))
    return RowComparison(
        world, names, matching, seen, tuple(chain(*cells)), tuple(chain(*lost)), whole
    )


def wrong_columns(
    world: World, columns: Sequence[Column], asked: Sequence[str]
) -> tuple[Place, ...]:
    """Return the columns that are absent, too many, or declared with another type.

    A column that was asked but is not in the schema of the judged step is one too many. Of one that
    is there twice no type is asked: it is one place, and wrong already.
    """
    wanted = [name for name in asked if world.schema.has(name)]
    there = {column.name: column for column in columns}
    names = Counter(column.name for column in columns)
    step = world.step_naming(names.elements())
    once = [name for name in wanted if names[name] <= 1]
    places = [_column(world, name, there.get(name), step) for name in once]
    for name, times in names.items():
        if name not in wanted or times > 1:
            origin = _named_then(world, name, step)
            places.append(Place(What.EXTRA_COLUMN, "", name, None, name, origin=origin))
    return tuple(place for place in places if place is not None)


def _column(world: World, name: str, column: Column | None, step: int | None) -> Place | None:
    field = world.schema.find(name)
    if column is None:
        origin = Origin(field.id, name, step, "") if step is not None else None
        return Place(What.ABSENT_COLUMN, "", name, name, None, field, origin)
    if _declares(column, field.type):
        return None
    declared = column.canonical or column.type
    return Place(What.COLUMN_TYPE, "", name, str(field.type), declared, field)


def _named_then(world: World, name: str, step: int | None) -> Origin | None:
    if step is None or not world.at(step).schema.has(name):
        return None
    return Origin(world.at(step).schema.find(name).id, name, step, "")


def _whole_rows(world: World, matching: Matching, asked: Sequence[str]) -> Iterator[Place]:
    for key, values in matching.extra:
        yield Place(What.EXTRA_ROW, key, "", None, values)
    for key, values in matching.second:
        yield Place(What.SECOND_ROW, key, "", None, values)
    there = matching.there
    for key, row in world.keys.items():
        if key not in there:
            shown = world.shown(row)
            values = tuple(at(shown, path) for path in asked if world.schema.has(path))
            yield Place(What.ABSENT_ROW, key, "", values, None)


def _declares(column: Column, type_: DataType) -> bool:
    """Return whether a declared type is the wanted one; a type without a name of ours is not.

    Nothing is wrong with the type of a column that was refused.
    """
    return column.canonical == str(type_) or not (column.canonical or column.type)


def _row(
    world: World, row: Row, known: Sequence[str], seen: Sequence[tuple[Field, Value]]
) -> Iterator[Place]:
    expected, key = world.shown(row), text_of(row.key)
    for path, (field, found) in zip(known, seen, strict=True):
        wanted = at(expected, path)
        if not same(wanted, found):
            yield from _cell(world, Place(What.CELL, key, path, wanted, found, field))


def _empty(world: World, row: Row, known: Sequence[str]) -> Iterator[Place]:
    """Yield the values of a row that came as nothing but NULLs."""
    seen = [(world.schema.find(name), None) for name in known]
    return (replace(each, empty=True) for each in _row(world, row, known, seen))


def _cell(world: World, at: Place) -> Iterator[Place]:
    """Yield the wrong parts of a value, as deep as both sides have the same shape."""
    if same(at.expected, at.found) or at.field is None:
        return
    match at.expected, at.found:
        case dict(), dict():
            yield from _struct(world, at, at.field)
        case tuple(), tuple() if len(at.expected) == len(at.found):
            for number, (left, right) in enumerate(zip(at.expected, at.found, strict=True)):
                yield from _cell(world, _part(at, f"[{number}]", at.field.children[0], left, right))
        case MapValue(), MapValue() if same(_keys(at.expected), _keys(at.found)):
            for (key, left), (_, right) in zip(at.expected.pairs, at.found.pairs, strict=True):
                value = at.field.children[1]
                yield from _cell(world, _part(at, f"[{text_of(key)}]", value, left, right))
        case ((dict() | tuple() | MapValue()), None):
            yield from _all_lost(at, at.field)
        case _:
            yield at


def _part(whole: Place, path: str, field: Field, expected: Value, found: Value) -> Place:
    return Place(What.CELL, whole.key, f"{whole.column}{path}", expected, found, field)


def _keys(value: MapValue) -> tuple[Value, ...]:
    return tuple(key for key, _ in value.pairs)


def _struct(world: World, at: Place, field: Field) -> Iterator[Place]:
    expected, found = at.expected, at.found
    step = world.step_naming(found, field)
    there = world.at(step).schema.by_id(field.id) if step is not None else None
    old = {child.name: child.id for child in there.children} if there else {}
    for child in field.children:
        if child.name in found:
            part = _part(at, f".{child.name}", child, expected[child.name], found[child.name])
            yield from _cell(world, part)
        else:
            origin = Origin(child.id, child.name, step, at.key) if step is not None else None
            path = f"{at.column}.{child.name}"
            yield Place(What.ABSENT_COLUMN, at.key, path, child.name, None, child, origin)
    for name in found:
        if name not in expected:
            origin = Origin(old[name], name, step, at.key) if step is not None else None
            path = f"{at.column}.{name}"
            yield Place(What.EXTRA_COLUMN, at.key, path, None, name, origin=origin)
    if list(found) != list(expected) and found.keys() == expected.keys():
        orders = ", ".join(expected), ", ".join(found)
        yield Place(What.COLUMN_TYPE, at.key, at.column, *orders, field)


def _all_lost(at: Place, field: Field) -> Iterator[Place]:
    parts = [each for each in leaves(at.expected, field, at.column) if each[2] is not None]
    for path, leaf, value in parts:
        yield Place(What.CELL, at.key, path, value, None, leaf)
    if not parts:
        yield at
