"""The shapes of questions: what each asks, and of which column.

A shape is more than `select *` where readers go other ways for it: they read one column only, leave
out files and row groups by the statistics of the column a predicate names, reach into a struct,
or count without showing rows. What makes them wrong there is a changed column, so the questions are
about the one that a schema change concerned last.

| shape | text of a cell | question |
| --- | --- | --- |
| all | `all` | every column of every row |
| column | `column(f1_new)` | the key and that column |
| predicate | `predicate(f1_new)` | every column of the rows that a condition on it holds for |
| dereference | `dereference(address.town)` | the key and that part of a struct |
| count | `count(f1_new)` | how many rows the same condition holds for |
| partition | `partition(p)` | every column of the rows of one partition |

The condition is an equality with the value of a row that has lain longest in a file that nobody
rewrote: there a column still has its old name, place and type, and so have its statistics. Where
the type has no literal that all engines compare alike it is `is not null`, and where no row has a
value, `is null`.

Which questions there are is known from the plan, for which every step is applied. After a refused
step a question may name a column that is not there: then it falls away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from harness.model.canonical import Value
from harness.model.conversion import cast_text
from harness.model.datatypes import DataType, Decimal, Struct
from harness.model.query import ALL, Condition, Query, Test, at
from harness.model.schema import Field, Schema, SchemaChangeError
from harness.model.truth import Group, History, Row, Truth, row_values

COMPARABLE: Final = {"boolean", "int", "long", "float", "double", "string", "date"}
"""Types whose literals mean the same everywhere; a timestamp's depends on the session's zone."""

_TEXT: Final = re.compile(r"(?P<shape>\w+)(\((?P<path>.*)\))?", re.DOTALL)


class Shape(StrEnum):
    """What is asked, apart from the column."""

    ALL = "all"
    COLUMN = "column"
    PREDICATE = "predicate"
    DEREFERENCE = "dereference"
    COUNT = "count"
    PARTITION = "partition"


class NoQuestionError(Exception):
    """There is nothing to ask: the table does not have the column; the message says so."""


def planned(shape: str, history: History) -> tuple[str, ...]:
    """Return the texts of a shape's questions after the last step; none if there are none."""
    truth, changed = history[-1], evolved(history)
    match Shape(shape):
        case Shape.ALL:
            return (str(Shape.ALL),)
        case Shape.PARTITION:
            paths = truth.table.partition_by if truth.rows else ()
        case Shape.COLUMN:
            paths = tuple(path.partition(".")[0] for path in changed[:1])
        case Shape.DEREFERENCE:
            paths = _parts(truth.schema, changed)[:1]
        case _:
            paths = tuple(_leaf(truth.schema, path) for path in changed[:1])
    return tuple(f"{shape}({path})" for path in paths)


def query(text: str, truth: Truth) -> Query:
    """Return the question of a cell, as it is put to a table of which this is the truth.

    Raises:
        NoQuestionError: the table has no such column.
        ValueError: the text is none of ours.

    """
    shape, path = parse(text)
    if shape is Shape.ALL:
        return ALL
    try:
        field = truth.schema.find(path)
    except SchemaChangeError as wrong:
        raise NoQuestionError(str(wrong)) from wrong
    if shape in {Shape.COLUMN, Shape.DEREFERENCE}:
        return Query(columns=tuple(dict.fromkeys((truth.table.key, path))))
    return Query(where=condition(truth, path, field.type), count=shape is Shape.COUNT)


def parse(text: str) -> tuple[Shape, str]:
    """Return the shape and the path that a cell's text names, the path empty for `all`.

    >>> parse("dereference(address.town)")
    (<Shape.DEREFERENCE: 'dereference'>, 'address.town')

    Raises:
        ValueError: it is no such text.

    """
    match = _TEXT.fullmatch(text)
    known = match is not None and match["shape"] in list(Shape)
    if match is None or not known or (match["path"] is None) != (match["shape"] == Shape.ALL):
        raise ValueError(f"'{text}' is not a query; allowed: all, {_allowed()}")
    return Shape(match["shape"]), match["path"] or ""


def shape_of(text: str) -> str:
    """Return the shape that a cell's text names; raises as `parse` does."""
    return str(parse(text)[0])


def _allowed() -> str:
    return ", ".join(f"{shape}(<column>)" for shape in Shape if shape is not Shape.ALL)


def evolved(history: History) -> tuple[str, ...]:
    """Return the columns that schema changes concerned, as they are called now, the newest first.

    Parts of structs have their dotted path. Key, ordering and partition columns never count.
    """
    now = history[-1]
    found: dict[str, None] = {}
    for before, after in reversed(list(pairwise(history))):
        if before.schema is after.schema:
            continue
        for field_id in _concerned(before.schema.fields, after.schema.fields):
            path = now.schema.path_of(field_id)
            if path is not None and path not in now.table.fixed:
                found[path] = None
    return tuple(found)


def _concerned(before: Sequence[Field], after: Sequence[Field]) -> Iterator[int]:
    """Yield the ids of the siblings that are new, or otherwise than they were, or elsewhere."""
    old = {each.id: each for each in before}
    for field in after:
        was = old.get(field.id)
        if was is None or was.name != field.name:
            yield field.id
        elif was != field:
            structs = isinstance(was.type, Struct) and isinstance(field.type, Struct)
            inner = tuple(_concerned(was.children, field.children)) if structs else ()
            yield from inner or (field.id,)
    yield from _elsewhere([each.id for each in before], [each.id for each in after])


def _elsewhere(before: list[int], after: list[int]) -> Iterator[int]:
    """Yield what moved, and what moved up into the place of something dropped."""
    common = [each for each in before if each in after]
    kept = [each for each in after if each in before]
    if common != kept:
        # Of two neighbours that changed places either has moved; the one that went back is named.
        moved = [each for each in kept if _without(common, each) == _without(kept, each)]
        yield from moved[-1:]
    gone = [at for at, each in enumerate(before) if each not in after]
    yield from before[gone[0] + 1 :] if gone else ()


def _without(ids: Iterable[int], one: int) -> list[int]:
    return [each for each in ids if each != one]


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


def condition(truth: Truth, path: str, type_: DataType) -> Condition:
    """Return the condition on a column; see above which."""
    rows = sorted(truth.rows.values(), key=_age(truth))
    values = (at(_shown(row, truth), path) for row in rows)
    value = next((each for each in values if each is not None), None)
    if value is None:
        return Condition(path, Test.NULL)
    literal = _literal(value, type_)
    if literal is None:
        return Condition(path, Test.NOT_NULL)
    return Condition(path, Test.EQUAL, literal, str(type_))


def _shown(row: Row, truth: Truth) -> Mapping[str, Value]:
    return dict(zip(truth.schema.names, row_values(row, truth.schema), strict=True))


def _literal(value: Value, type_: DataType) -> str | None:
    """Return the text of a value that every engine compares alike; None where there is none."""
    comparable = isinstance(type_, Decimal) or str(type_) in COMPARABLE
    if not comparable or (isinstance(value, float) and not value):
        return None  # 0.0 and -0.0 are equal in SQL, and two values to us
    try:
        return cast_text(value)
    except ValueError:
        return None


def _age(truth: Truth) -> Callable[[Row], tuple[bool, int, int]]:
    """Return the order in which rows are looked at: the ones in the oldest files first.

    Rows alike in that stay in the order in which they were first written.
    """
    newest: dict[Group, int] = {}
    for row in truth.rows.values():
        newest[row.group] = max(newest.get(row.group, 0), _written(row))

    def age(row: Row) -> tuple[bool, int, int]:
        in_log = truth.base.get(row.key) is not row
        return in_log, newest[row.group], _written(row)

    return age


def _written(row: Row) -> int:
    return max(row.written.values(), default=0)
