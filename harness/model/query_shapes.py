"""The shapes of questions: what each asks, and of which column.

A shape is more than `select *` where readers go other ways for it: they read one column only, leave
out files and row groups by the statistics of the column a predicate names, reach into a struct, or
answer from statistics alone. Most are about the column that a schema change concerned last; what
each asks stands in docs/scenarios.md ("Shapes").

The condition is an equality with the value of a row that has lain longest in a file that nobody
rewrote: there a column still has its old name, place and type, and so have its statistics. Where
no value has a literal that all engines compare alike it is `is not null`, and where no row has a
value, `is null`. After a refused step a question may name a column that is not there, and falls
away.
"""

import datetime
import decimal
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

from harness.model import condition_text
from harness.model.canonical import Look, Value, look_of
from harness.model.condition_text import FINE, NEW, OLD, ColumnWord, ConditionText, Written
from harness.model.conversion import INTEGERS as INTEGER_RANGES
from harness.model.conversion import cast_text, convert
from harness.model.datatypes import DataType, Decimal, Primitive, Struct, Text
from harness.model.query import (
    LINEAGE,
    ON_NULL,
    ROW_COUNT,
    Comparison,
    Condition,
    Extreme,
    Query,
    at,
    literal_text,
)
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
    ALONE = "alone"
    LIMIT = "limit"
    GROUPS = "groups"
    LINEAGE = "lineage"
    WHERE = "where"
    COUNT_WHERE = "count_where"
    STORY = "story"


WHOLE: Final = {Shape.ALL, Shape.COUNT_ALL, Shape.LINEAGE}
"""Those that name no column."""
ANSWER_TABLES: Final = {Shape.GROUPS, Shape.LINEAGE}
"""Those that are answered by a table of its own (`harness.judge.answer_tables`)."""
COLUMN: Final = "<column>"
IN_BRACKETS: Final = {
    Shape.LIMIT: "<rows>",
    Shape.WHERE: "<condition>",
    Shape.COUNT_WHERE: "<condition>",
}
"""What those have in brackets that name more than a column."""
_RANGES: Final = {
    Comparison.LESS,
    Comparison.AT_MOST,
    Comparison.GREATER,
    Comparison.AT_LEAST,
    Comparison.BETWEEN,
}
CONDITIONED: Final = {Shape.WHERE, Shape.COUNT_WHERE}
"""Those that a condition is written for."""


def planned(shape: str, history: History) -> tuple[str, ...]:
    """Return the questions of a shape: of its name, or of a text with a condition or a number."""
    kind, argument = parse_shape(shape)
    truth, changed = history[-1], evolved(history)
    if kind is Shape.STORY:
        asked: dict[Query, str] = {}
        for text in _story(history, evolved(_since_last_write(history))):
            with suppress(NoQuestionError):
                asked.setdefault(query(text, truth), text)
        return tuple(asked.values())
    if kind in CONDITIONED:
        written = condition_text.parse(argument)
        paths = [written.path] if written.path else _leaves(truth.schema, changed)
        there = (path for path in paths if truth.schema.has(path))
        return tuple(f"{kind}({replace(written, path=path)})" for path in there)
    if kind in WHOLE or kind is Shape.LIMIT:
        return (shape,)
    return tuple(f"{kind}({argument})" for argument in _arguments(kind, truth, changed))


def _leaves(schema: Schema, changed: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_leaf(schema, path) for path in changed))


def _since_last_write(history: History) -> History:
    """Return the steps since the newest write before the last one.

    So each change is asked about twice: when old files alone are there, and when rows were written
    since.
    """
    writes = (t.step for t in history[:-1] if any(r.newest == t.step for r in t.rows.values()))
    return history[max(writes, default=0) :]


def _story(history: History, changed: Sequence[str]) -> Iterator[str]:
    """Yield what is asked of each column that the story touched: what can go wrong by such a touch.

    Readers leave out files by the old name, type, place or default of a column, by NULL counts and
    bounds of it, or take what a file lacks for NULL.
    """
    schema, structs = (
        history[-1].schema,
        {path.partition(".")[0] for path in changed if "." in path},
    )
    for path in structs:
        yield from (f"where({ConditionText(path, Comparison.NULL)})",)
    for path in _leaves(schema, changed):
        field = schema.find(path)
        for test, *values in _asked_of(field, history):
            yield f"where({ConditionText(path, test, tuple(values))})"
        yield f"count_where({ConditionText(path, Comparison.NOT_NULL)})"
        yield f"alone({path})"
    if changed:
        yield str(Shape.COUNT_ALL)


def _asked_of(field: Field, history: History) -> Iterator[tuple[Comparison, *tuple[Written, ...]]]:
    yield (Comparison.NULL,)
    type_, name = field.type, str(field.type)
    if name in {"float", "double"}:
        zero = decimal.Decimal("0.0")
        yield from ((Comparison.NAN,), (Comparison.EQUAL, zero), (Comparison.LESS, zero))
    if not (isinstance(type_, Decimal | Text) or name in COMPARABLE):
        return
    old, new = ColumnWord(OLD), ColumnWord(NEW)
    yield from ((Comparison.EQUAL, old), (Comparison.EQUAL, new), (Comparison.NOT, old))
    yield (Comparison.IN, old, new)
    if name in {"string", "date"} or name.startswith("varchar"):
        yield (Comparison.STARTS_WITH, old) if name != "date" else (Comparison.AT_LEAST, new)
    if name in TIMES:
        yield (Comparison.EQUAL, ColumnWord(FINE))
    if (beyond := _beyond(field, history)) is not None:
        yield from ((Comparison.LESS, beyond), (Comparison.AT_LEAST, beyond))


def _beyond(field: Field, history: History) -> Written:
    """Return the least value that the type a column had before cannot hold; None for no such."""
    types = [was.type for truth in history if (was := truth.schema.by_id(field.id))]
    older = next((type_ for type_ in reversed(types) if type_ != field.type), None)
    number = None
    if isinstance(older, Decimal) and isinstance(field.type, Decimal):
        number = decimal.Decimal(10) ** (older.precision - older.scale)
    elif str(older) in INTEGER_RANGES:
        number = decimal.Decimal(INTEGER_RANGES[str(older)])
    elif (str(older), str(field.type)) == ("float", "double"):
        return decimal.Decimal("1e39")
    with suppress(ValueError):
        convert(number, field.type)
        return None if number is None or str(field.type) == "string" else int(number)
    return None


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
        case Shape.MIN | Shape.MAX | Shape.GROUPS:
            paths = (*truth.table.partition_by, *leaves) if shape is Shape.GROUPS else leaves
            types = {path: truth.schema.find(path).type for path in paths}
            return [p for p, t in types.items() if isinstance(t, Decimal) or str(t) in ORDERED]
    return leaves


def query(text: str, truth: Truth) -> Query:
    """Return the question of a cell, as it is put to a table of which this is the truth.

    Raises NoQuestionError: the table has no such column.
    Raises ValueError: the text is none of ours.
    """
    shape, path = parse(text)
    if shape is Shape.LINEAGE:
        return Query(columns=(truth.table.key, *LINEAGE))
    if shape in WHOLE:
        return Query(count=shape is Shape.COUNT_ALL)
    if shape is Shape.LIMIT:
        return Query(limit=int(path))
    if shape in CONDITIONED:
        where = _written_condition(condition_text.parse(path), truth)
        return Query(where=where, count=shape is Shape.COUNT_WHERE)
    return _of_column(shape, *path.partition(",")[::2], truth)


def _of_column(shape: Shape, path: str, second: str, truth: Truth) -> Query:
    try:
        field = truth.schema.find(path)
        other = truth.schema.find(second) if shape is Shape.BOTH else None
    except SchemaChangeError as wrong:
        raise NoQuestionError(str(wrong)) from wrong
    match shape:
        case Shape.COLUMN | Shape.DEREFERENCE:
            return Query(columns=tuple(dict.fromkeys((truth.table.key, path))))
        case Shape.ALONE:
            return Query(columns=(path,))
        case Shape.GROUPS:
            return Query(columns=(path, ROW_COUNT), groups=True)
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


def conditions(text: str, truth: Truth) -> tuple[Condition, ...]:
    """Return the conditions of a question for which one is written.

    The others are conditions that every engine can be asked. Raises NoQuestionError: as `query`.
    """
    return query(text, truth).conditions if parse(text)[0] in CONDITIONED else ()


def _written_condition(written: ConditionText, truth: Truth) -> Condition:
    """Return a condition whose words are replaced by values of the column.

    Raises NoQuestionError: there is no such column or value, or engines do not agree on it.
    """
    path, test = written.path, written.test
    try:
        type_ = truth.schema.find(path).type
        if why := _disagreement(test, type_):
            raise NoQuestionError(f"{path} is {type_}: {why}")
        literals = tuple(_literal(value, test, path, type_, truth) for value in written.values)
        first, *more = literals or ("",)
        of_type = str(type_) if literals else ""
        result = Condition(path, test, first or "", of_type, tuple(more))
        for value in by_age(truth, path):
            result.truth_of(value)
    except (SchemaChangeError, ValueError) as wrong:
        raise NoQuestionError(str(wrong)) from wrong
    return result


def _disagreement(test: Comparison, type_: DataType) -> str:
    """Return why engines do not all ask the same of a type; empty where they do."""
    name, number = str(type_), isinstance(type_, Decimal)
    if test in ON_NULL:
        return ""
    if test in {Comparison.NAN, Comparison.NOT_NAN}:
        return "" if name in {"float", "double"} else "only float and double have NaN"
    if test is Comparison.STARTS_WITH:
        texts = name == "string" or name.startswith("varchar")
        return "" if texts else "only string and varchar have a beginning"
    if test in {*_RANGES} and not (number or name in ORDERED or name in {"float", "double"}):
        return "its values have no order that all engines share"
    comparable = number or isinstance(type_, Text) or name in COMPARABLE
    return "" if comparable else "it has no literal that all engines take alike"


def _literal(
    value: Written, test: Comparison, path: str, type_: DataType, truth: Truth
) -> str | None:
    if value is None:
        return None
    begins = test is Comparison.STARTS_WITH
    if isinstance(value, ColumnWord):
        text = _value_of_word(value, path, type_, truth)
        text = text[:-1] if begins else text
    else:
        text = literal_text(convert(value, Primitive("string") if begins else type_))
    if begins and set(text) & set("%_\\"):
        raise ValueError(f"'{text}': engines read %, _ and \\ in their own ways in a beginning")
    return text


def _value_of_word(word: ColumnWord, path: str, type_: DataType, truth: Truth) -> str:
    values = [value for value in by_age(truth, path) if value is not None]
    if word.name == FINE:
        moments = (v for v in values if isinstance(v, datetime.datetime))
        texts = (cast_text(v) for v in moments if v.microsecond % _MILLISECOND)
    else:
        order = values if word.name == OLD else reversed(values)
        texts = (text for v in order if (text := literal_of(v, type_)) is not None)
    text = next(texts, None)
    if text is None:
        raise ValueError(f"{path} has no value '{word.name}'")
    return text


def parse(text: str) -> tuple[Shape, str]:
    """Return the shape and what a cell's text has in brackets, empty for `all`.

    Raises ValueError: it is no such text.
    """
    match = _TEXT.fullmatch(text)
    known = match is not None and match["shape"] in list(Shape)
    if match is None or not known or (match["path"] is None) != (match["shape"] in WHOLE):
        asked = (shape for shape in Shape if shape is not Shape.STORY)
        allowed = ", ".join(
            f"{s}" if s in WHOLE else f"{s}({IN_BRACKETS.get(s, COLUMN)})" for s in asked
        )
        raise ValueError(f"'{text}' is not a query; allowed: {allowed}")
    shape, inner = Shape(match["shape"]), match["path"] or ""
    if shape in CONDITIONED:
        condition_text.parse(inner)
    elif shape is Shape.LIMIT and not re.fullmatch(r"[1-9]\d{0,5}", inner):
        raise ValueError(f"'{text}': a limit is a number from 1 to 999999")
    return shape, inner


def parse_shape(text: str) -> tuple[Shape, str]:
    """Return the shape that a profile names, and what it asks for where that stands in brackets.

    Raises ValueError: it is none.
    """
    if text in list(Shape) and text not in IN_BRACKETS:
        return Shape(text), ""
    name, _, rest = text.partition("(")
    shape, inner = parse(text) if rest and name in IN_BRACKETS else ("", "")
    if shape not in IN_BRACKETS:
        names = (
            f"{shape}({IN_BRACKETS[shape]})" if shape in IN_BRACKETS else str(shape)
            for shape in Shape
        )
        raise ValueError(f"there is no '{text}'; allowed: {', '.join(names)}")
    return Shape(shape), inner


def why_no_shape(text: str) -> str:
    """Return what is wrong with a question that a file names; empty where it is one."""
    try:
        parse_shape(text)
    except ValueError as wrong:
        return str(wrong)
    return ""


def shape_of(text: str) -> str:
    """Return what asks the same of whatever column changed."""
    shape, inner = parse(text)
    if shape in CONDITIONED:
        return f"{shape}({replace(condition_text.parse(inner), path='')})"
    return text if shape is Shape.LIMIT else str(shape)


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
