"""What can be expected of a product: the truth, and an answer's types, as its declarations say.

Used where an answer is judged: what an engine cannot hold was gone before the answer came.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.core.records import Answer, Column, Normalised, Part, labelled
from harness.core.tolerances import Declared, merged
from harness.model.canonical import MapValue, Value, same
from harness.model.conversion import cast_text
from harness.model.datatypes import Array, Map, Primitive, Struct
from harness.model.query import Query, Test
from harness.model.schema import Field, Schema
from harness.model.simulation.milliseconds import MILLISECOND
from harness.model.simulation.milliseconds import finer as is_finer
from harness.model.truth import History, Row, Rows, Truth, row_values

MILLISECONDS: Final = "timestamp-milliseconds"
BOUNDED: Final = "bounded-text"
KIND: Final = "kind-of-type"
LOWER: Final = "lower-case-names"
ZONES: Final = {
    "timestamp-zone": ("timestamp_ntz", "timestamp"),
    "one-timestamp": ("timestamp", "timestamp_ntz"),
}
"""By the name of a declaration: the one type that an engine names in the place of the other."""
_BOUNDED: Final = re.compile(r"\b(char|varchar)\(\d+\)")
_STAMPS: Final = re.compile(r"\b(timestamp_ntz|timestamp)\b(?!:)")
"""The types in a type's text; a struct's child may be called so too, then a colon follows."""


def history(found: History, declared: Declared) -> History:
    """Return the history as a product can show it; the very same one where it can show it all."""
    if MILLISECONDS not in declared:
        return found
    shown = tuple(_truth(each) for each in found)
    return shown if any(a is not b for a, b in zip(shown, found, strict=True)) else found


def _truth(truth: Truth) -> Truth:
    rows = as_shown(truth.rows, truth.schema)
    base = rows if truth.base is truth.rows else as_shown(truth.base, truth.schema)
    if rows is truth.rows and base is truth.base:
        return truth
    return replace(truth, rows=rows, base=base)


def as_shown(rows: Rows, schema: Schema) -> Rows:
    """Return rows as a product that cuts timestamps shows them; the same where it cuts none."""
    shown = {key: _row(row, schema) for key, row in rows.items()}
    return shown if any(shown[key] is not row for key, row in rows.items()) else rows


def _row(row: Row, schema: Schema) -> Row:
    """Cut the values that are timestamps today; keys stay, for rows are known by them."""
    there = [field for field in schema.fields if field.id in row.values]
    cut = {field.id: _cut(row.values[field.id], field) for field in there}
    if all(same(row.values[at], value) for at, value in cut.items()):
        return row
    return replace(row, values={**row.values, **cut})


def _cut(value: Value, field: Field) -> Value:
    """Cut a stored value to milliseconds; a struct is a dict by the ids of its children."""
    match field.type:
        case Primitive("timestamp" | "timestamp_ntz") if isinstance(value, datetime.datetime):
            return _milliseconds(value)
        case Struct() if isinstance(value, dict):
            children = {child.id: child for child in field.children}
            return {
                at: _cut(each, children[at]) if at in children else each
                for at, each in value.items()
            }
        case Array() if isinstance(value, tuple):
            return tuple(_cut(each, field.children[0]) for each in value)
        case Map() if isinstance(value, MapValue):
            key, part = field.children
            return MapValue.of([(_cut(k, key), _cut(v, part)) for k, v in value.pairs])
    return value


def asked(answer: Answer) -> Answer:
    """Return an answer whose question has its literal cut like the values it is compared with."""
    where = answer.question.where
    if where is None or where.test is not Test.EQUAL or not _STAMPS.fullmatch(where.type):
        return answer
    where = replace(where, literal=cast_text(_milliseconds(where.value)))
    return replace(answer, question=replace(answer.question, where=where))


def _milliseconds(value: datetime.datetime) -> datetime.datetime:
    return value.replace(microsecond=value.microsecond // MILLISECOND * MILLISECOND)


def finer(answer: Answer) -> bool:
    """Return whether an answer shows more than milliseconds: its product can, whatever is said."""
    rows = (*answer.rows, *(row for part in answer.parts for row in part.rows))
    return any(is_finer(value) for row in rows for value in row)


def cut(query: Query, schema: Schema, written: Rows, expected: Rows) -> tuple[Normalised, ...]:
    """Count the values asked for that are expected otherwise than they were written."""
    whole = replace(query, where=None)

    def values(row: Row) -> tuple[Value, ...]:
        return whole.answer(schema.names, [row_values(row, schema)])[0]

    pairs = [(written[key], row) for key, row in expected.items() if key in written]
    both = ((values(left), values(right)) for left, right in pairs)
    count = sum(not same(a, b) for left, right in both for a, b in zip(left, right, strict=True))
    return (Normalised(MILLISECONDS, count),) if count else ()


def taken(answer: Answer, types: Mapping[str, str], declared: Declared) -> Answer:
    """Return an answer with the expected names and types where declarations take the told for them.

    `types`: what is expected, in our words, by the name of the column.
    """
    answer = _cased(answer, types) if LOWER in declared else answer
    if not {BOUNDED, KIND, *ZONES} & declared.keys():
        return answer
    named = labelled(answer.question, answer.columns)
    columns, applied = _columns(named, types, declared)
    parts = tuple(_part(each, types, declared) for each in answer.parts)
    told = merged(answer.normalised, applied)
    return replace(answer, columns=columns, parts=parts, normalised=told)


def _part(part: Part, types: Mapping[str, str], declared: Declared) -> Part:
    columns, applied = _columns(part.columns, types, declared)
    return replace(part, columns=columns, normalised=merged(part.normalised, applied))


def _cased(answer: Answer, names: Collection[str]) -> Answer:
    """Return an answer whose columns are called as they are expected, but for upper and lower case.

    Only what came in lower case is taken so: where `f1` is expected, `F1` stays a difference. Nor
    is it told whose name it is where two are called by the same letters.
    """
    lower = Counter(name.lower() for name in names)
    alone = (name for name in names if lower[name.lower()] == 1 and name != name.lower())
    back = {name.lower(): name for name in alone}
    told = (answer.columns, *(part.columns for part in answer.parts))
    count = sum(column.name in back for columns in told for column in columns)
    parts = tuple(
        replace(each, column=back.get(each.column, each.column), columns=_called(each, back))
        for each in answer.parts
    )
    applied = merged(answer.normalised, (Normalised(LOWER, count),) if count else ())
    return replace(answer, columns=_called(answer, back), parts=parts, normalised=applied)


def _called(told: Answer | Part, back: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(replace(each, name=back.get(each.name, each.name)) for each in told.columns)


def _columns(
    columns: Sequence[Column], types: Mapping[str, str], declared: Declared
) -> tuple[tuple[Column, ...], tuple[Normalised, ...]]:
    names = [_name(column, types.get(column.name, ""), declared) for column in columns]
    shown = tuple(
        replace(column, canonical=types[column.name]) if name else column
        for column, name in zip(columns, names, strict=True)
    )
    return shown, merged(*((Normalised(name, 1),) for name in names if name))


def _name(column: Column, wanted: str, declared: Declared) -> str:
    """Return the declaration by which a column's type is taken for the expected one, if any is."""
    if wanted in {"", column.canonical}:
        return ""
    if BOUNDED in declared and column.canonical == _BOUNDED.sub("string", wanted):
        return BOUNDED
    for name, pair in ZONES.items():
        if name in declared and _alike(column.canonical, wanted, pair):
            return name
    kind = wanted.partition("<")[0]
    named = column.type.lower().removesuffix("_type") == kind and not column.canonical
    return KIND if named and KIND in declared and kind in declared[KIND].types else ""


def _alike(told: str, wanted: str, pair: tuple[str, str]) -> bool:
    """Return whether two types are one but for parts of which the first is told for the second."""
    both = _STAMPS.split(told), _STAMPS.split(wanted)
    return len(both[0]) == len(both[1]) and all(
        a == b or (a, b) == pair for a, b in zip(*both, strict=True)
    )
