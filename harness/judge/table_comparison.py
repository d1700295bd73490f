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
from harness.judge.difference import Difference, DifferenceKind, ShownRows, leaves
from harness.judge.expected_state import ExpectedState
from harness.judge.match_rows import AnsweredRow, Matching
from harness.model.canonical import MapValue, Value, look_of, same, text_of
from harness.model.datatypes import DataType
from harness.model.query import Query, at
from harness.model.schema import Field
from harness.model.truth import Row


@dataclass(frozen=True, slots=True)
class RowComparison:
    """The rows of a table beside those of a world."""

    state: ExpectedState
    names: tuple[str, ...]
    """What the columns of the table are called."""
    matching: Matching
    seen: ShownRows
    cells: tuple[Difference, ...]
    """The wrong values of rows that are there."""
    lost: tuple[Difference, ...]
    """The values of rows that came as nothing but NULLs."""
    whole_rows: tuple[Difference, ...]
    """The rows that are too many, there twice, or absent."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All that is wrong with rows."""
        return (*self.cells, *self.lost, *self.whole_rows)


def wrong_aggregate(
    state: ExpectedState, query: Query, columns: Sequence[Column], rows: Sequence[AnsweredRow]
) -> Iterator[Difference]:
    """Yield the place of a count or an extreme that is wrong; `world` is narrowed to its rows."""
    result = rows[0][0] if len(columns) == 1 == len(rows) else tuple(rows)
    expected = aggregate(state, query)
    if same(result, expected):
        return
    if query.count:
        yield Difference(DifferenceKind.COUNT, "", query.label, expected, result)
    else:
        field = state.schema.find(query.columns[0])
        origins = state.index.looks.get(look_of(result), ())
        owner = _owner(state, field, origins)
        disputed = owner is None and bool(origins)
        yield Difference(
            DifferenceKind.EXTREME, "", query.label, expected, result, field, owner, disputed
        )


def _owner(state: ExpectedState, field: Field, origins: Sequence[Origin]) -> Origin | None:
    """Return whose value an extreme is; None where values of several fields look so.

    Of several rows of one field, one that the question asks for is the owner.
    """
    if len({origin.field_id for origin in origins}) != 1:
        return None
    asked = (e for e in origins if e.step == state.expected_step(field.id, e.key))
    return next(asked, origins[-1] if len(origins) == 1 else None)


def aggregate(state: ExpectedState, query: Query) -> Value:
    """Return what a count or an extreme of the rows of a narrowed world must be."""
    names = state.schema.names
    rows = (tuple(state.shown(row).values()) for row in state.rows.values())
    return query.answer(names, rows)[0][0]


def compare_rows(
    state: ExpectedState,
    columns: Sequence[Column],
    rows: Sequence[AnsweredRow],
    asked: Sequence[str] | None = None,
) -> RowComparison:
    """Compare the rows of a table with those of a world; `asked`: the columns, None for all."""
    names = tuple(column.name for column in columns)
    wanted = tuple(state.schema.names if asked is None else asked)
    known = [name for name in wanted if name in names and state.schema.has(name)]
    fields = [(state.schema.find(name), names.index(name)) for name in known]
    matching = match_rows.match(state, names, rows)
    seen = {
        text_of(row.key): [(field, values[at]) for field, at in fields]
        for row, values in matching.pairs
    }
    cells = (_row(state, row, known, seen[text_of(row.key)]) for row, _ in matching.pairs)
    lost = (_empty(state, row, known) for row, _ in matching.empty)
    whole = tuple(_whole_rows(state, matching, wanted))
    return RowComparison(
        state, names, matching, seen, tuple(chain(*cells)), tuple(chain(*lost)), whole
    )


def wrong_columns(
    state: ExpectedState, columns: Sequence[Column], asked: Sequence[str]
) -> tuple[Difference, ...]:
    """Return the columns that are absent, too many, or declared with another type.

    A column that was asked but is not in the schema of the judged step is one too many. Of one that
    is there twice no type is asked: it is one place, and wrong already.
    """
    wanted = [name for name in asked if state.schema.has(name)]
    there = {column.name: column for column in columns}
    names = Counter(column.name for column in columns)
    step = state.step_naming(names.elements())
    once = [name for name in wanted if names[name] <= 1]
    differences = [_column(state, name, there.get(name), step) for name in once]
    for name, times in names.items():
        if name not in wanted or times > 1:
            origin = _named_then(state, name, step)
            differences.append(
                Difference(DifferenceKind.EXTRA_COLUMN, "", name, None, name, origin=origin)
            )
    return tuple(difference for difference in differences if difference is not None)


def _column(
    state: ExpectedState, name: str, column: Column | None, step: int | None
) -> Difference | None:
    field = state.schema.find(name)
    if column is None:
        origin = Origin(field.id, name, step, "") if step is not None else None
        return Difference(DifferenceKind.ABSENT_COLUMN, "", name, name, None, field, origin)
    if _declares(column, field.type):
        return None
    declared = column.canonical or column.type
    return Difference(DifferenceKind.COLUMN_TYPE, "", name, str(field.type), declared, field)


def _named_then(state: ExpectedState, name: str, step: int | None) -> Origin | None:
    if step is None or not state.at(step).schema.has(name):
        return None
    return Origin(state.at(step).schema.find(name).id, name, step, "")


def _whole_rows(
    state: ExpectedState, matching: Matching, asked: Sequence[str]
) -> Iterator[Difference]:
    for key, values in matching.extra:
        yield Difference(DifferenceKind.EXTRA_ROW, key, "", None, values)
    for key, values in matching.second:
        yield Difference(DifferenceKind.SECOND_ROW, key, "", None, values)
    there = matching.there
    for key, row in state.keys.items():
        if key not in there:
            shown = state.shown(row)
            values = tuple(at(shown, path) for path in asked if state.schema.has(path))
            yield Difference(DifferenceKind.ABSENT_ROW, key, "", values, None)


def _declares(column: Column, type_: DataType) -> bool:
    """Return whether a declared type is the wanted one; a type without a name of ours is not.

    Nothing is wrong with the type of a column that was refused.
    """
    return column.canonical == str(type_) or not (column.canonical or column.type)


def _row(
    state: ExpectedState, row: Row, known: Sequence[str], seen: Sequence[tuple[Field, Value]]
) -> Iterator[Difference]:
    expected, key = state.shown(row), text_of(row.key)
    for path, (field, result) in zip(known, seen, strict=True):
        wanted = at(expected, path)
        if not same(wanted, result):
            yield from _cell(
                state, Difference(DifferenceKind.CELL, key, path, wanted, result, field)
            )


def _empty(state: ExpectedState, row: Row, known: Sequence[str]) -> Iterator[Difference]:
    """Yield the values of a row that came as nothing but NULLs."""
    seen = [(state.schema.find(name), None) for name in known]
    return (replace(difference, empty=True) for difference in _row(state, row, known, seen))


def _cell(state: ExpectedState, at: Difference) -> Iterator[Difference]:
    """Yield the wrong parts of a value, as deep as both sides have the same shape."""
    if same(at.expected, at.actual) or at.field is None:
        return
    match at.expected, at.actual:
        case dict(), dict():
            yield from _struct(state, at, at.field)
        case tuple(), tuple() if len(at.expected) == len(at.actual):
            for number, (left, right) in enumerate(zip(at.expected, at.actual, strict=True)):
                yield from _cell(state, _part(at, f"[{number}]", at.field.children[0], left, right))
        case MapValue(), MapValue() if same(_keys(at.expected), _keys(at.actual)):
            for (key, left), (_, right) in zip(at.expected.pairs, at.actual.pairs, strict=True):
                value = at.field.children[1]
                yield from _cell(state, _part(at, f"[{text_of(key)}]", value, left, right))
        case ((dict() | tuple() | MapValue()), None):
            yield from _all_lost(at, at.field)
        case _:
            yield at


def _part(whole: Difference, path: str, field: Field, expected: Value, result: Value) -> Difference:
    return Difference(
        DifferenceKind.CELL, whole.key, f"{whole.column}{path}", expected, result, field
    )


def _keys(value: MapValue) -> tuple[Value, ...]:
    return tuple(key for key, _ in value.pairs)


def _struct(state: ExpectedState, at: Difference, field: Field) -> Iterator[Difference]:
    expected, result = at.expected, at.actual
    step = state.step_naming(result, field)
    there = state.at(step).schema.by_id(field.id) if step is not None else None
    old = {child.name: child.id for child in there.children} if there else {}
    for child in field.children:
        if child.name in result:
            part = _part(at, f".{child.name}", child, expected[child.name], result[child.name])
            yield from _cell(state, part)
        else:
            origin = Origin(child.id, child.name, step, at.key) if step is not None else None
            path = f"{at.column}.{child.name}"
            yield Difference(
                DifferenceKind.ABSENT_COLUMN, at.key, path, child.name, None, child, origin
            )
    for name in result:
        if name not in expected:
            origin = Origin(old[name], name, step, at.key) if step is not None else None
            path = f"{at.column}.{name}"
            yield Difference(DifferenceKind.EXTRA_COLUMN, at.key, path, None, name, origin=origin)
    if list(result) != list(expected) and result.keys() == expected.keys():
        orders = ", ".join(expected), ", ".join(result)
        yield Difference(DifferenceKind.COLUMN_TYPE, at.key, at.column, *orders, field)


def _all_lost(at: Difference, field: Field) -> Iterator[Difference]:
    parts = [leaf for leaf in leaves(at.expected, field, at.column) if leaf[2] is not None]
    for path, leaf, value in parts:
        yield Difference(DifferenceKind.CELL, at.key, path, value, None, leaf)
    if not parts:
        yield at
