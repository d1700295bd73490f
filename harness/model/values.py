"""Traceable values: each tells the field, the step and the row it was written for.

The code of a value is the whole number `field id * 100000 + step * 1000 + row`, so that
`503002` reads as field 5, step 3, row 2. It stays below 2^24 and floating values are dyadic: every
value is exact in every type its column takes, and no engine's cast rule matters. Boolean and
decimals too small for the code carry a pattern over the rows instead, and a date a shorter code.
Every fifth row leaves the fields with an even id NULL.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Final

from harness.model.canonical import MapValue, Value, text_of
from harness.model.datatypes import Array, DataType, Decimal, Map, Primitive, Struct
from harness.model.schema import Field

MAX_FIELD: Final = 82
"""Above it `code + 0.5` would not be exact in a 32-bit float."""
MAX_STEP: Final = 99
MAX_ROW: Final = 499
SECOND: Final = 500
"""Added to the row for the second element of an array."""
EPOCH: Final = datetime.date(1970, 1, 1)
START: Final = datetime.datetime(2001, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone
NULL_EVERY: Final = 5

Types = Mapping[int, tuple[DataType, ...]]
"""Every type that a field takes in the scenario, by field id."""


def code(field_id: int, step: int, row: int) -> int:
    """Give the whole number that stands for (field, step, row).

    >>> code(5, 3, 2)
    503002
    """
    return field_id * 100_000 + step * 1_000 + row


def generate(field: Field, step: int, row: int, types: Types) -> Value:
    """Give the traceable value of a field: a struct as a dict by the children's field ids."""
    if row % NULL_EVERY == 0 and field.id % 2 == 0:
        return None
    return never_null(field, step, row, types)


def never_null(field: Field, step: int, row: int, types: Types) -> Value:
    """Give the same for a column that may not be NULL itself, as an ordering column."""
    match field.type:
        case Struct():
            return {each.id: generate(each, step, row, types) for each in field.children}
        case Array():
            element = field.children[0]
            return tuple(generate(element, step, each, types) for each in (row, row + SECOND))
        case Map():
            key, value = field.children
            pair = generate(key, step, row, types), generate(value, step, row, types)
            return MapValue((pair,)) if pair[0] is not None else MapValue(())
    return _leaf(field, step, row, types.get(field.id, ()))


def _leaf(field: Field, step: int, row: int, becomes: tuple[DataType, ...]) -> Value:
    number = code(field.id, step, row)
    match field.type:
        case Decimal(precision, scale):
            return _decimal(number, precision, scale)
        case Primitive("int" | "long"):
            return number
        case Primitive("float" | "double"):
            return number + 0.5
        case Primitive("boolean"):
            return _pattern(field.id, step, row)
        case Primitive("date"):
            return _date(field.id, step, row)
        case Primitive("timestamp"):
            return START + datetime.timedelta(seconds=number, milliseconds=250)
    return _string(field.id, step, row, becomes)


def _decimal(number: int, precision: int, scale: int) -> decimal.Decimal:
    whole = number % 10 ** (precision - scale)
    fraction = decimal.Decimal("0.25" if scale > 1 else "0.5" if scale else "0")
    return (whole + fraction).quantize(decimal.Decimal(1).scaleb(-scale))


def _pattern(field_id: int, step: int, row: int) -> bool:
    # Each field takes another bit of the row and the step, so that columns differ over the rows.
    return bool((row >> (field_id % 3)) & 1) ^ bool(step & 1)


def _date(field_id: int, step: int, row: int) -> datetime.date:
    days = ((field_id % 64) * 40 + step % 40) * 1_000 + row
    return EPOCH + datetime.timedelta(days=days)


def _string(field_id: int, step: int, row: int, becomes: tuple[DataType, ...]) -> str:
    if Primitive("date") in becomes:
        return _date(field_id, step, row).isoformat()
    if any(isinstance(each, Decimal) for each in becomes):
        return str(code(field_id, step, row))
    return f"f{field_id}s{step}r{row}"


def convert(value: Value, to: DataType) -> Value:
    """Give the same value in another type that its column has taken since.

    Raises:
        ValueError: there is no exact form in that type.

    """
    if value is None:
        return None
    match to:
        case Primitive("string"):
            return value if isinstance(value, str) else _cast_text(value)
        case Primitive("float" | "double"):
            return float(value)
        case Decimal(_, scale):
            exact = decimal.Decimal(text_of(value))
            return exact.quantize(decimal.Decimal(1).scaleb(-scale))
        case Primitive("date") if isinstance(value, str):
            return datetime.date.fromisoformat(value)
        case Primitive("int" | "long") if isinstance(value, int | str):
            return int(value)
    return value


def _cast_text(value: Value) -> str:
    # As Java and SQL write it: 7.0, 12.50, 2024-02-29; whole numbers below 2^24 need no exponent.
    return repr(value) if isinstance(value, float) else str(value)
