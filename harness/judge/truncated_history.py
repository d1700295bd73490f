"""What a product that cuts timestamps to milliseconds can show of the truth."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Final

from harness.core.records import Answer
from harness.core.tolerances import Declared
from harness.model.canonical import MapValue, Value, same
from harness.model.datatypes import Array, Map, Primitive, Struct
from harness.model.schema import Field, Schema
from harness.model.simulation.value_conversions import MILLISECOND
from harness.model.simulation.value_conversions import finer as is_finer
from harness.model.truth import History, Row, Rows, Truth

MILLISECONDS: Final = "timestamp-milliseconds"
"""The declaration of a product that cuts."""


def truncated_history(result: History, declared: Declared) -> History:
    """Return the history as a product can show it; the very same one where it can show it all."""
    if MILLISECONDS not in declared:
        return result
    shown = tuple(_truth(truth) for truth in result)
    return shown if any(a is not b for a, b in zip(shown, result, strict=True)) else result


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
    shortened = {field.id: _cut(row.values[field.id], field) for field in there}
    if all(same(row.values[at], value) for at, value in shortened.items()):
        return row
    return replace(row, values={**row.values, **shortened})


def _cut(value: Value, field: Field) -> Value:
    """Cut a stored value to milliseconds; a struct is a dict by the ids of its children."""
    match field.type:
        case Primitive("timestamp" | "timestamp_ntz") if isinstance(value, datetime.datetime):
            return milliseconds(value)
        case Struct() if isinstance(value, dict):
            children = {child.id: child for child in field.children}
            return {
                at: _cut(each, children[at]) if at in children else each
                for at, each in value.items()
            }
        case Array() if isinstance(value, tuple):
            return tuple(_cut(any_, field.children[0]) for any_ in value)
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
