"""Where an answer differs from the table that the truth expects.

Nothing is tolerated: a value is the same or it is a place. The order of rows and columns does not
count. A place knows whose value was found there, as far as that can be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.core.records import Column, Origin, labelled
from harness.judge import match_rows, origins
from harness.judge import newer_rows as newer
from harness.judge.checks.place import Place, What, World, leaves
from harness.judge.match_rows import Found, Matching
from harness.model.canonical import MapValue, Value, same, text_of
from harness.model.datatypes import DataType
from harness.model.query import COUNT, Query, at
from harness.model.schema import Field
from harness.model.truth import Row, Rows


def differences(
    world: World, columns: Sequence[Column], rows: Sequence[Found], asked: Sequence[str]
) -> tuple[Place, ...]:
    """Return every wrong place of an answer to a question for the columns `asked`."""
    return (*wrong_rows(world, columns, rows, asked), *wrong_columns(world, columns, asked))


def narrowed(world: World, query: Query) -> World:
    """Return the world in which only the rows that a query asks for should be seen."""
    if query.where is None:
        return world
    rows = _asked(world, query, world.rows)
    others = {key: row for key, row in world.rows.items() if key not in rows}
    left_out = {**world.left_out, **others}
    newer = None
    if world.newer is not None:
        newer = tuple(_asked(world, query, each) for each in world.newer)
    return replace(world, rows=rows, left_out=left_out, newer=newer)


def _asked(world: World, query: Query, rows: Rows) -> Rows:
    return {key: row for key, row in rows.items() if query.takes(world.shown(row))}


def wrong(
    world: World, query: Query, columns: Sequence[Column], rows: Sequence[Found]
) -> tuple[Place, ...]:
    """Return every wrong place of the answer to a query; `world` is narrowed to it."""
    if query.count:
        return tuple(_miscounted(world, columns, rows))
    asked = query.labels(world.schema.names)
    return differences(world, labelled(query, columns), rows, asked)


def _miscounted(world: World, columns: Sequence[Column], rows: Sequence[Found]) -> Iterator[Place]:
    number = rows[0][0] if len(columns) == 1 == len(rows) else tuple(rows)
    if not same(number, len(world.rows)):
        yield Place(What.COUNT, "", COUNT, len(world.rows), number)


def wrong_rows(
    world: World,
    columns: Sequence[Column],
    rows: Sequence[Found],
    asked: Sequence[str] | None = None,
) -> tuple[Place, ...]:
    """Return the wrong cells of the columns that were asked (or all there are), then wrong rows."""
    names = [column.name for column in columns]
    wanted = world.schema.names if asked is None else asked
    known = [name for name in wanted if name in names and world.schema.has(name)]
    fields = [(world.schema.find(name), names.index(name)) for name in known]
    found = match_rows.match(world, names, rows)
    seen = {
        text_of(row.key): [(field, values[at]) for field, at in fields]
        for row, values in found.pairs
    }
    cells = [
        each for row, _ in found.pairs for each in _row(world, row, known, seen[text_of(row.key)])
    ]
    lost = (each for row, _ in found.empty for each in _empty(world, row, known))
    told = origins.attribute(world, cells, seen)
    return (*told, *lost, *_whole_rows(world, found, names, wanted))


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
    if step is None:
        return None
    return Origin(world.at(step).schema.find(name).id, name, step, "")


def _whole_rows(
    world: World, found: Matching, names: Sequence[str], asked: Sequence[str]
) -> Iterator[Place]:
    early = newer.told(world, names, found)
    for key, values in found.extra:
        yield Place(What.EXTRA_ROW, key, "", None, values, origin=early.get(key))
    for key, values in found.second:
        yield Place(What.SECOND_ROW, key, "", None, values)
    there = found.there
    for key, row in world.keys.items():
        if key not in there:
            shown = world.shown(row)
            values = tuple(at(shown, path) for path in asked if world.schema.has(path))
            yield Place(What.ABSENT_ROW, key, "", values, None, origin=early.get(key))


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
