"""Stage 1: an answer as its product can have understood the question and shown the values.

What an engine is declared to show otherwise (`harness.core.tolerances`) is evened out, in the
answer and in the truth that is expected of it: what an engine cannot hold was gone before the
answer came.
"""

import datetime
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, TypeVar

from harness.core.records import Answer, Column, Part, labelled
from harness.core.tolerances import LOWER, MILLISECONDS, Declared, Normalised, merged
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import MapValue, Value, same
from harness.model.conversion import cast_text
from harness.model.datatypes import (
    Array,
    Map,
    Primitive,
    Struct,
    Text,
    map_plain,
    parse_type,
    plain_types,
)
from harness.model.query import Comparison
from harness.model.schema import Field, Schema
from harness.model.simulation.value_conversions import MILLISECOND
from harness.model.simulation.value_conversions import finer as is_finer
from harness.model.truth import History, Row, Rows, Truth, row_values

BOUNDED: Final = "bounded-text"
KIND: Final = "kind-of-type"
TEXT: Final = Primitive("string")
OTHERS: Final = {
    "timestamp-zone": frozenset({("timestamp_ntz", "timestamp")}),
    "one-timestamp": frozenset({("timestamp", "timestamp_ntz")}),
    "avro-integers": frozenset({("int", "tinyint"), ("int", "smallint")}),
}
"""By the name of a declaration: types that an engine names, each with what it stands for."""
TIMESTAMPS: Final = frozenset({"timestamp", "timestamp_ntz"})
AnswerOrPart = TypeVar("AnswerOrPart", Answer, Part)


def truncated_history(history: History, declared: Declared) -> History:
    """Return the history as a product can show it; the very same one where it can show it all."""
    if MILLISECONDS not in declared:
        return history
    shown = tuple(map(_truth, history))
    return shown if any(a is not b for a, b in zip(shown, history, strict=True)) else history


def _truth(truth: Truth) -> Truth:
    rows = as_shown(truth.rows, truth.schema)
    base = rows if truth.base is truth.rows else as_shown(truth.base, truth.schema)
    unchanged = rows is truth.rows and base is truth.base
    return truth if unchanged else replace(truth, rows=rows, base=base)


def as_shown(rows: Rows, schema: Schema) -> Rows:
    """Return rows as a product that cuts timestamps shows them; the same where it cuts none."""
    shown = {key: _row(row, schema) for key, row in rows.items()}
    return shown if any(shown[key] is not row for key, row in rows.items()) else rows


def _row(row: Row, schema: Schema) -> Row:
    """Cut the values that are timestamps today; keys stay, for rows are known by them."""
    fields = (field for field in schema.fields if field.id in row.values)
    shortened = {field.id: _cut(row.values[field.id], field) for field in fields}
    unchanged = all(same(row.values[at], value) for at, value in shortened.items())
    return row if unchanged else replace(row, values={**row.values, **shortened})


def _cut(value: Value, field: Field) -> Value:
    """Cut a stored value to milliseconds; a struct is a dict by the ids of its children."""
    match field.type:
        case Primitive("timestamp" | "timestamp_ntz") if isinstance(value, datetime.datetime):
            return milliseconds(value)
        case Struct() if isinstance(value, dict):
            children = {child.id: child for child in field.children}
            return {
                at: _cut(part, children[at]) if at in children else part
                for at, part in value.items()
            }
        case Array() if isinstance(value, tuple):
            return tuple(_cut(element, field.children[0]) for element in value)
        case Map() if isinstance(value, MapValue):
            key, part = field.children
            return MapValue.of([(_cut(k, key), _cut(v, part)) for k, v in value.pairs])
    return value


def milliseconds(value: datetime.datetime) -> datetime.datetime:
    """Return a timestamp without what is finer than a millisecond."""
    return value.replace(microsecond=value.microsecond // MILLISECOND * MILLISECOND)


def finer(answer: Answer) -> bool:
    """Return whether an answer shows more than milliseconds: its product can, whatever is said."""
    rows = (*answer.rows, *(row for part in answer.parts for row in part.rows))
    return any(is_finer(value) for row in rows for value in row)


def understand(
    answer: Answer, types: Mapping[str, str], declared: Declared, *, truncated: bool
) -> Answer:
    """Return an answer with its declared differences evened out: what is judged and explained.

    `types`: what is expected, in our words, by the name of the column; `truncated`: whether the
    product cannot show all that was written.
    """
    where = answer.question.where
    equal = where is not None and where.test is Comparison.EQUAL
    if truncated and where is not None and equal and where.type in TIMESTAMPS:
        # The literal is cut like the values that it is compared with.
        where = replace(where, literal=cast_text(milliseconds(where.value)))
        answer = replace(answer, question=replace(answer.question, where=where))
    answer = _cased(answer, types) if LOWER in declared else answer
    if not {BOUNDED, KIND, *OTHERS} & declared.keys():
        return answer
    parts = tuple(_with_types(part, part.columns, types, declared) for part in answer.parts)
    columns = labelled(answer.question, answer.columns)
    return replace(_with_types(answer, columns, types, declared), parts=parts)


def evened_out(
    answer: Answer, state: ExpectedState, written: Rows | None
) -> tuple[Normalised, ...]:
    """Count what was evened out in an answer, and what is expected but was not written.

    `answer`: as it is understood; `state`: what it should show, as far as the product can;
    `written`: the rows as they were written, where the product cannot show all of them.
    """
    applied = merged(answer.normalised, *(part.normalised for part in answer.parts))
    if written is None or answer.refusal is not None:
        return applied
    whole, schema = replace(answer.question, where=None, also=None), state.schema

    def values(row: Row) -> tuple[Value, ...]:
        return whole.answer(schema.names, [row_values(row, schema)])[0]

    count = sum(
        not same(one, other)
        for key, row in state.rows.items()
        if key in written
        for one, other in zip(values(written[key]), values(row), strict=True)
    )
    return merged(applied, [Normalised(MILLISECONDS, count)] if count else [])


def _cased(answer: Answer, names: Collection[str]) -> Answer:
    """Return an answer whose columns are called as they are expected, but for upper and lower case.

    Only what came in lower case is taken so: where `f1` is expected, `F1` stays a difference. So
    does a name where two are called by the same letters.
    """
    lower = Counter(name.lower() for name in names)
    alone = (name for name in names if lower[name.lower()] == 1 and name != name.lower())
    back = {name.lower(): name for name in alone}

    def renamed(columns: Sequence[Column]) -> tuple[Column, ...]:
        return tuple(replace(c, name=back[c.name]) if c.name in back else c for c in columns)

    shown = (answer.columns, *(part.columns for part in answer.parts))
    count = sum(column.name in back for columns in shown for column in columns)
    parts = tuple(
        replace(part, column=back.get(part.column, part.column), columns=renamed(part.columns))
        for part in answer.parts
    )
    applied = merged(answer.normalised, [Normalised(LOWER, count)] if count else [])
    return replace(answer, columns=renamed(answer.columns), parts=parts, normalised=applied)


def _with_types(
    answer: AnswerOrPart, columns: Sequence[Column], types: Mapping[str, str], declared: Declared
) -> AnswerOrPart:
    """Replace reported types by the expected ones where a tolerance allows it."""
    names = [_tolerance(column, types.get(column.name, ""), declared) for column in columns]
    shown = tuple(
        replace(column, canonical=types[column.name]) if name else column
        for column, name in zip(columns, names, strict=True)
    )
    applied = [Normalised(name, 1) for name in names if name]
    return replace(answer, columns=shown, normalised=merged(answer.normalised, applied))


def _tolerance(column: Column, expected: str, declared: Declared) -> str:
    """Return the declaration by which a column's type is taken for the expected one, if any is."""
    if expected in {"", column.canonical}:
        return ""
    if BOUNDED in declared and column.canonical == _unbounded(expected):
        return BOUNDED
    for name, pairs in OTHERS.items():
        if name in declared and _one_for_another(column.canonical, expected, pairs):
            return name
    kind = expected.partition("<")[0]
    named = column.type.lower().removesuffix("_type") == kind and not column.canonical
    return KIND if named and KIND in declared and kind in declared[KIND].types else ""


@cache
def _unbounded(type_: str) -> str:
    return str(map_plain(parse_type(type_), lambda p: TEXT if isinstance(p, Text) else p))


@cache
def _one_for_another(declared: str, expected: str, pairs: frozenset[tuple[str, str]]) -> bool:
    """Return whether types are equal but for parts that are declared as the first of a pair."""
    if not declared:
        return False
    types = parse_type(declared), parse_type(expected)
    shapes = [map_plain(type_, lambda _: TEXT) for type_ in types]
    return shapes[0] == shapes[1] and all(
        shown == right or (str(shown), str(right)) in pairs
        for shown, right in zip(*map(plain_types, types), strict=True)
    )
