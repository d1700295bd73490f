"""The shapes of questions: what each asks, and of which column.

A shape is more than `select *` where readers go other ways for it: they read one column only, leave
out files and row groups by the statistics of the column a predicate names, reach into a struct,
or answer from statistics alone. Most questions are about the
column that a schema change concerned last.

| shape | text of a cell | question |
| --- | --- | --- |
| all | `all` | every column of every row |
| column | `column(f1_new)` | the key and that column |
| predicate | `predicate(f1_new)` | every column of the rows that a condition on it holds for |
| dereference | `dereference(address.town)` | the key and that part of a struct |
| count | `count(f1_new)` | how many rows the same condition holds for |
| partition | `partition(p)`, `partition(p,2)` | every column of the rows of one partition |
| unchanged | `unchanged(f2)` | as predicate, on a column that no schema change concerned |
| both | `both(f1_new,f2)` | as predicate, the condition on the unchanged column too |
| null | `null(f1_new)` | every column of the rows that have no value there, where others have one |
| range | `range(ts)` | every column of the rows from a time on |
| min, max | `min(f1_new)` | the least, or the greatest, value of that column |
| count_all | `count_all` | how many rows there are |

The condition is an equality with the value of a row that has lain longest in a file that nobody
rewrote: there a column still has its old name, place and type, and so have its statistics. Where
no value has a literal that all engines compare alike it is `is not null`, and where no row has a
value, `is null`. After a refused step a question may name a column that is not there, and falls
away.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from harness.model.canonical import Look, Value, look_of
from harness.model.conversion import cast_text
from harness.model.datatypes import DataType, Decimal, Struct, Text
from harness.model.query import Comparison, Condition, Extreme, Query, at
from harness.model.schema import Field, Schema, SchemaChangeError
from harness.model.truth import Group, History, Row, Truth, row_values

TIMES: Final = {"timestamp", "timestamp_ntz"}
INTEGERS: Final = {"tinyint", "smallint", "int", "long"}
COMPARABLE: Final = {"boolean", "float", "double", "string", "date", *INTEGERS, *TIMES}
"""Types whose literals mean the same everywhere, beside decimals and bounded texts: every
session is in UTC."""
_MILLISECOND: Final = 1000
"""Microseconds; some engines have no finer times, so no literal is."""


class NoQuestionError(Exception):
    """There is nothing to ask: no such column, or no value to compare with; the message says so."""


def condition(truth: Truth, path: str, type_: DataType) -> Condition:
    """Return the equality with the first value that has a literal, or else whether there is one."""
    values = [value for value in by_age(truth, path) if value is not None]
    with_literal = (value for value in values if literal_of(value, type_) is not None)
    return _value_condition(path, next(with_literal, next(iter(values), None)), type_)


def _same_row_condition(truth: Truth, first: Condition, path: str, type_: DataType) -> Condition:
    """Return the condition on a second column that the oldest row meets which meets the first."""
    pairs = zip(by_age(truth, first.path), by_age(truth, path), strict=True)
    values = [value for one, value in pairs if first.holds(one)]
    return _value_condition(path, values[0], type_) if values else condition(truth, path, type_)


def _value_condition(path: str, value: Value, type_: DataType) -> Condition:
    literal = None if value is None else literal_of(value, type_)
    if literal is None:
        return Condition(path, Comparison.NULL if value is None else Comparison.NOT_NULL)
    return Condition(path, Comparison.EQUAL, literal, str(type_))


def _partition_condition(truth: Truth, path: str, type_: DataType, number: int) -> Condition:
    """Return the condition that takes one partition, counted from 1, the oldest first."""
    values = distinct(truth, path)
    if number > len(values):
        raise NoQuestionError(f"{path} has {len(values)} values")
    return _value_condition(path, values[number - 1], type_)


def _since_condition(truth: Truth, path: str, type_: DataType) -> Condition:
    """Return the condition that leaves out the older half of a column's values."""
    values = {value for value in by_age(truth, path) if value is not None}
    literals = [text for value in values if (text := literal_of(value, type_)) is not None]
    if not literals:
        raise NoQuestionError(f"{path} has no value that can be compared with")
    literal = sorted(literals)[len(literals) // 2]
    return Condition(path, Comparison.AT_LEAST, literal, str(type_))


def distinct(truth: Truth, path: str) -> list[Value]:
    values: dict[Look, Value] = {}
    for value in by_age(truth, path):
        values.setdefault(look_of(value), value)
    return list(values.values())


def by_age(truth: Truth, path: str) -> Iterator[Value]:
    """Yield the values of a column, those of the rows in the oldest files first."""
    for row in sorted(truth.rows.values(), key=_age(truth)):
        yield at(dict(zip(truth.schema.names, row_values(row, truth.schema), strict=True)), path)


def literal_of(value: Value, type_: DataType) -> str | None:
    """Return the text of a value that every engine compares alike; None where there is none."""
    comparable = isinstance(type_, Decimal | Text) or str(type_) in COMPARABLE
    if not comparable or (isinstance(value, float) and not value):
        return None  # 0.0 and -0.0 are equal in SQL, and two values to us
    if isinstance(value, datetime.datetime) and value.microsecond % _MILLISECOND:
        return None
    try:
        return cast_text(value)
    except ValueError:
        return None


def _age(truth: Truth) -> Callable[[Row], tuple[bool, int, int]]:
    """Return the order in which rows are looked at: the ones in the oldest files first."""
    newest: dict[Group, int] = {}
    for row in truth.rows.values():
        newest[row.group] = max(newest.get(row.group, 0), row.newest)
    return lambda row: (truth.base.get(row.key) is not row, newest[row.group], row.newest)


ORDERED: Final = {"string", "date", *INTEGERS, *TIMES}
"""Types whose values all engines put in one order, beside decimals: texts by their letters'
numbers. Floating numbers have NaN and two zeros, `char` has blanks that do not count."""
_TEXT: Final = re.compile(r"(?P<shape>\w+)(\((?P<path>.*)\))?", re.DOTALL)


class Shape(StrEnum):
    ALL = "all"
    COLUMN = "column"
    PREDICATE = "predicate"
    DEREFERENCE = "dereference"
    COUNT = "count"
    PARTITION = "partition"
    UNCHANGED = "unchanged"
    BOTH = "both"
    NULL = "null"
    RANGE = "range"
    MIN = "min"
    MAX = "max"
    COUNT_ALL = "count_all"


WHOLE: Final = {Shape.ALL, Shape.COUNT_ALL}
"""Those that name no column."""


def planned(shape: str, history: History) -> tuple[str, ...]:
    kind, truth = Shape(shape), history[-1]
    if kind in WHOLE:
        return (str(kind),)
    return tuple(f"{kind}({argument})" for argument in _arguments(kind, truth, evolved(history)))


def _arguments(shape: Shape, truth: Truth, changed: Sequence[str]) -> Iterable[str]:
    """Return what stands in the brackets of each question; `changed`: as `evolved` has them."""
    leaves = tuple(_leaf(truth.schema, path) for path in changed[:1])
    match shape:
        case Shape.PARTITION:
            return _partitions(truth)
        case Shape.COLUMN:
            return tuple(path.partition(".")[0] for path in changed[:1])
        case Shape.DEREFERENCE:
            return _parts(truth.schema, changed)[:1]
        case Shape.UNCHANGED:
            return (_unchanged(truth, changed),)
        case Shape.BOTH:
            return tuple(f"{path},{_unchanged(truth, changed)}" for path in leaves)
        case Shape.NULL:
            return tuple(
                path for path in leaves if len({value is None for value in by_age(truth, path)}) > 1
            )
        case Shape.RANGE:
            return tuple(_times(truth))[:1]
        case Shape.MIN | Shape.MAX:
            types = {path: truth.schema.find(path).type for path in leaves}
            return [p for p, t in types.items() if isinstance(t, Decimal) or str(t) in ORDERED]
    return leaves


def query(text: str, truth: Truth) -> Query:
    """Return the question of a cell, as it is put to a table of which this is the truth.

    Raises NoQuestionError: the table has no such column.
    Raises ValueError: the text is none of ours.
    """
    shape, path = parse(text)
    if shape in WHOLE:
        return Query(count=shape is Shape.COUNT_ALL)
    path, _, second = path.partition(",")
    try:
        field = truth.schema.find(path)
        other = truth.schema.find(second) if shape is Shape.BOTH else None
    except SchemaChangeError as wrong:
        raise NoQuestionError(str(wrong)) from wrong
    match shape:
        case Shape.COLUMN | Shape.DEREFERENCE:
            return Query(columns=tuple(dict.fromkeys((truth.table.key, path))))
        case Shape.MIN | Shape.MAX:
            return Query(columns=(path,), extreme=Extreme(shape))
        case Shape.NULL:
            return Query(where=Condition(path, Comparison.NULL))
        case Shape.RANGE:
            return Query(where=_since_condition(truth, path, field.type))
        case Shape.PARTITION:
            return Query(where=_partition_condition(truth, path, field.type, int(second or 1)))
    where = condition(truth, path, field.type)
    also = _same_row_condition(truth, where, second, other.type) if other else None
    return Query(where=where, count=shape is Shape.COUNT, also=also)


def parse(text: str) -> tuple[Shape, str]:
    """Return the shape and what a cell's text has in brackets, empty for `all`.

    Raises ValueError: it is no such text.
    """
    match = _TEXT.fullmatch(text)
    known = match is not None and match["shape"] in list(Shape)
    if match is None or not known or (match["path"] is None) != (match["shape"] in WHOLE):
        allowed = ", ".join(f"{s}" if s in WHOLE else f"{s}(<column>)" for s in Shape)
        raise ValueError(f"'{text}' is not a query; allowed: {allowed}")
    return Shape(match["shape"]), match["path"] or ""


def shape_of(text: str) -> str:
    return str(parse(text)[0])


def evolved(history: History) -> tuple[str, ...]:
    """Return the columns that changes of schema or partition spec concerned, the newest first.

    They have their dotted paths of now. Key, ordering and partition columns never count.
    """
    now = history[-1]
    paths: dict[str, None] = {}
    for before, after in reversed(list(pairwise(history))):
        for field_id in _changed(before, after):
            path = now.schema.path_of(field_id)
            if path is not None and path not in now.table.fixed:
                paths[path] = None
    return tuple(paths)


def _changed(before: Truth, after: Truth) -> Iterator[int]:
    """Yield the ids of the columns that a step concerned, or the partition fields made of them."""
    if before.schema is not after.schema:
        yield from _concerned(before.schema.fields, after.schema.fields)
    yield from (field.source for field in after.spec if field not in before.spec)
    yield from (field.source for field in before.spec if field not in after.spec)


def _concerned(before: Sequence[Field], after: Sequence[Field]) -> Iterator[int]:
    old = {field.id: field for field in before}
    for field in after:
        was = old.get(field.id)
        if was is None or was.name != field.name:
            yield field.id
        elif was != field:
            structs = isinstance(was.type, Struct) and isinstance(field.type, Struct)
            inner = tuple(_concerned(was.children, field.children)) if structs else ()
            yield from inner or (field.id,)
    yield from _elsewhere([field.id for field in before], [field.id for field in after])


def _elsewhere(before: list[int], after: list[int]) -> Iterator[int]:
    """Yield what moved, and what moved up into the place of something dropped."""
    common = [number for number in before if number in after]
    later = [number for number in after if number in before]
    if common != later:
        # Of two neighbours that changed places either has moved; the one that went back is named.
        moved = [
            one
            for one in later
            if [at for at in common if at != one] == [at for at in later if at != one]
        ]
        yield from moved[-1:]
    gone = [at for at, number in enumerate(before) if number not in after]
    yield from before[gone[0] + 1 :] if gone else ()


def _leaf(schema: Schema, path: str) -> str:
    """Return the first part of a struct that is no struct itself; what is none stays."""
    field = schema.find(path)
    while isinstance(field.type, Struct):
        field = field.children[0]
        path = f"{path}.{field.name}"
    return path


def _parts(schema: Schema, changed: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of structs that can be asked for: evolved ones first."""
    roots = (field.name for field in schema.fields if isinstance(field.type, Struct))
    paths = (_leaf(schema, path) for path in (*changed, *roots))
    return tuple(path for path in dict.fromkeys(paths) if "." in path)


def _partitions(truth: Truth) -> Iterator[str]:
    for path in truth.table.partition_by:
        for number, _ in enumerate(distinct(truth, path), start=1):
            yield path if number == 1 else f"{path},{number}"


def _unchanged(truth: Truth, changed: Sequence[str]) -> str:
    """Return the first column that no schema change concerned; the key is always such a one."""
    roots = {path.partition(".")[0] for path in changed} | set(truth.table.fixed)
    others = (field for field in truth.schema.fields if field.name not in roots)
    return next((other.name for other in others if not other.children), truth.table.key)


def _times(truth: Truth) -> Iterator[str]:
    """Yield the columns of times and days that have values, those that are not fixed first."""
    fixed = truth.table.fixed
    for field in sorted(truth.schema.fields, key=lambda field: field.name in fixed):
        if str(field.type) in {"date", *TIMES}:
            values = (value for value in by_age(truth, field.name) if value is not None)
            if any(literal_of(value, field.type) is not None for value in values):
                yield field.name
