"""Where an answer differs from the table that the truth expects.

Rows are matched by the key column; rows that no key matches, by whose values they hold. Nothing is
tolerated: a value is the same or it is a place. A place knows whose value was found there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.checks.place import Place, What, World, leaves
from harness.model.canonical import MapValue, Value, same, text_of
from harness.model.schema import Field
from harness.model.truth import Row, named
from harness.record import Column, Origin

Found = tuple[Value, ...]


def differences(
    world: World, columns: Sequence[Column], rows: Sequence[Found], asked: Sequence[str]
) -> tuple[Place, ...]:
    """Give every wrong place of an answer to a question for the columns `asked`."""
    heads = tuple(_wrong_columns(world, columns, asked))
    names = [column.name for column in columns]
    pairs, extra = _match(world, names, rows)
    cells = [each for row, found in pairs for each in _row(world, row, names, found, asked)]
    matched = {text_of(row.key) for row, _ in pairs}
    lost = [
        Place(What.ABSENT_ROW, text_of(row.key), "", _shown(world, row), None)
        for row in world.rows.values()
        if text_of(row.key) not in matched
    ]
    return (*heads, *_with_origins(world, cells), *extra, *lost)


def _wrong_columns(
    world: World, columns: Sequence[Column], asked: Sequence[str]
) -> Iterator[Place]:
    there = {column.name: column for column in columns}
    for name in asked:
        field = world.schema.find(name)
        if name not in there:
            yield Place(What.ABSENT_COLUMN, "", name, name, None, field)
        elif there[name].canonical != str(field.type):
            declared = there[name].canonical or there[name].type
            yield Place(What.COLUMN_TYPE, "", name, str(field.type), declared, field)
    for name, times in Counter(column.name for column in columns).items():
        if name not in asked or times > 1:
            yield Place(What.EXTRA_COLUMN, "", name, None, name)


def _match(
    world: World, names: Sequence[str], rows: Sequence[Found]
) -> tuple[list[tuple[Row, Found]], list[Place]]:
    waiting = {text_of(row.key): row for row in world.rows.values()}
    key = world.history[0].table.key
    at = names.index(key) if key in names else None
    pairs: list[tuple[Row, Found]] = []
    left: list[Found] = []
    for found in rows:
        row = waiting.pop(text_of(found[at]), None) if at is not None else None
        if row is None:
            left.append(found)
        else:
            pairs.append((row, found))
    extra = []
    for found in left:
        row = waiting.pop(_owner(world, found, waiting), None)
        if row is not None:
            pairs.append((row, found))
        else:
            extra.append(_extra(world, found, at))
    return pairs, extra


def _owner(world: World, found: Found, waiting: Mapping[str, Row]) -> str:
    """Give the key of the row whose values stand in a found row most often."""
    votes: Counter[str] = Counter()
    for value in found:
        keys = {origin.key for origin in world.index.get(text_of(value), ())}
        votes.update(keys & waiting.keys() if value is not None else ())
    best = votes.most_common(2)
    unique = len(best) == 1 or (len(best) > 1 and best[0][1] > best[1][1])
    return best[0][0] if unique else ""


def _extra(world: World, found: Found, at: int | None) -> Place:
    key = text_of(found[at]) if at is not None else ""
    known = key in {text_of(row.key) for row in world.rows.values()}
    what = What.SECOND_ROW if known else What.EXTRA_ROW
    return Place(what, key, "", None, found)


def _shown(world: World, row: Row) -> Found:
    return tuple(named(row.values.get(field.id), field) for field in world.schema.fields)


def _row(
    world: World, row: Row, names: Sequence[str], found: Found, asked: Sequence[str]
) -> Iterator[Place]:
    for at, name in enumerate(names):
        if name in asked and names.index(name) == at:
            field = world.schema.find(name)
            expected = named(row.values.get(field.id), field)
            yield from _cell(text_of(row.key), name, field, expected, found[at])


def _cell(key: str, path: str, field: Field, expected: Value, found: Value) -> Iterator[Place]:
    if same(expected, found):
        return
    match expected, found:
        case dict(), dict():
            yield from _struct(key, path, field, expected, found)
        case tuple(), tuple() if len(expected) == len(found):
            for at, (left, right) in enumerate(zip(expected, found, strict=True)):
                yield from _cell(key, f"{path}[{at}]", field.children[0], left, right)
        case MapValue(), MapValue() if _keys(expected) == _keys(found):
            pairs = zip(expected.pairs, found.pairs, strict=True)
            for (at, left), (_, right) in pairs:
                yield from _cell(key, f"{path}[{text_of(at)}]", field.children[1], left, right)
        case ((dict() | tuple() | MapValue()), None):
            yield from _all_lost(key, path, field, expected)
        case _:
            yield Place(What.CELL, key, path, expected, found, field)


def _keys(value: MapValue) -> list[str]:
    return [text_of(key) for key, _ in value.pairs]


def _struct(
    key: str, path: str, field: Field, expected: dict[str, Value], found: dict[str, Value]
) -> Iterator[Place]:
    for child in field.children:
        at = f"{path}.{child.name}"
        if child.name in found:
            yield from _cell(key, at, child, expected[child.name], found[child.name])
        else:
            yield Place(What.ABSENT_COLUMN, key, at, child.name, None, child)
    for name in found.keys() - expected.keys():
        yield Place(What.EXTRA_COLUMN, key, f"{path}.{name}", None, name)
    if list(found) != list(expected) and found.keys() == expected.keys():
        orders = ", ".join(expected), ", ".join(found)
        yield Place(What.COLUMN_TYPE, key, path, *orders, field)


def _all_lost(key: str, path: str, field: Field, expected: Value) -> Iterator[Place]:
    parts = [each for each in leaves(expected, field, path) if each[2] is not None]
    if not parts:
        yield Place(What.CELL, key, path, expected, None, field)
    for at, leaf, value in parts:
        yield Place(What.CELL, key, at, value, None, leaf)


def _with_origins(world: World, places: Sequence[Place]) -> list[Place]:
    """Tell of every wrong cell whose value it shows, by what explains most of its column."""
    columns: dict[int, list[Place]] = {}
    for place in places:
        if place.field is not None and place.what is What.CELL:
            columns.setdefault(place.field.id, []).append(place)
    votes = {column: _votes(world, cells) for column, cells in columns.items()}
    return [
        replace(place, origin=_origin(world, place, votes[place.field.id]))
        if place.field is not None and place.what is What.CELL
        else place
        for place in places
    ]


def _votes(world: World, cells: Sequence[Place]) -> Counter[int]:
    votes: Counter[int] = Counter()
    for place in cells:
        votes.update({origin.field_id for origin in _candidates(world, place)})
    return votes


def _candidates(world: World, place: Place) -> tuple[Origin, ...]:
    if place.found is None:
        return ()
    origins = world.index.get(text_of(place.found), ())
    here = tuple(origin for origin in origins if origin.key == place.key)
    return here or origins


def _origin(world: World, place: Place, votes: Counter[int]) -> Origin | None:
    candidates = _candidates(world, place)
    if not candidates or place.field is None:
        return None
    own = place.field.id
    best = max(votes[origin.field_id] for origin in candidates)
    fields = {origin.field_id for origin in candidates if votes[origin.field_id] == best}
    if len(fields) > 1 and own not in fields:
        # Several fields explain the column equally well: naming one would be a guess.
        return None
    chosen = own if own in fields else fields.pop()
    return max((o for o in candidates if o.field_id == chosen), key=lambda origin: origin.step)
