"""Traceable values: each tells the field, the step and the row it was written for.

The code of a value is the whole number `field id * 100000 + step * 1000 + row`, so that
`503002` reads as field 5, step 3, row 2. It stays below 2^24 and floating values are dyadic: every
value is exact in every type its column takes, and no engine's cast rule matters. Booleans, small
integers, decimals and texts too short for the code carry a pattern over the rows instead, and a
date a shorter code; the limits are the ones of the dates.
Every fifth row leaves the fields with an even id NULL.
"""

import datetime
import decimal
from collections.abc import Mapping
from typing import Final

from harness.model.canonical import MapValue, Value
from harness.model.conversion import cast_text
from harness.model.datatypes import (
    MAX_DECIMAL_PRECISION,
    NULL_ALONE,
    Array,
    DataType,
    Decimal,
    Map,
    Primitive,
    Struct,
    Text,
)
from harness.model.schema import Field

MAX_FIELD: Final = 63
MAX_STEP: Final = 39
"""With the rows of arrays, dates up to here end in the year 8979; a year has four digits."""
MAX_ROW: Final = 499
SECOND: Final = 500
"""Added to the row for the second element of an array."""
EPOCH: Final = datetime.date(1970, 1, 1)
START: Final = datetime.datetime(2001, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone
NULL_EVERY: Final = 5
NUMBERS: Final = {"tinyint", "smallint", "int", "long", "float", "double"}
SMALL: Final = {"tinyint": 127, "smallint": 32_749}
"""Primes: so neighbouring fields, steps and rows have different remainders of the code."""
STRIDE: Final = 37
"""So far apart are those of two neighbouring rows: keys, which are, too, run on by one."""
SHORT: Final = (7, 97, 997, 9_973, 99_991, 999_983)
"""The same for texts of one digit, of two …"""

FieldTypes = Mapping[int, tuple[DataType, ...]]
"""Every type that a field takes in the scenario, by field id."""


def code(field_id: int, step: int, row: int) -> int:
    return field_id * 100_000 + step * 1_000 + row


def generate(field: Field, step: int, row: int, types: FieldTypes) -> Value:
    """Return the traceable value of a field: a struct as a dict by the children's field ids."""
    if row % NULL_EVERY == 0 and field.id % 2 == 0:
        return None
    return never_null(field, step, row, types)


def never_null(field: Field, step: int, row: int, types: FieldTypes) -> Value:
    """Return the same for a column that may not be NULL itself, as an ordering column."""
    match field.type:
        case Struct():
            return {child.id: generate(child, step, row, types) for child in field.children}
        case Array():
            element = field.children[0]
            return tuple(generate(element, step, number, types) for number in (row, row + SECOND))
        case Map():
            key, value = field.children
            pair = generate(key, step, row, types), generate(value, step, row, types)
            return MapValue((pair,)) if pair[0] is not None else MapValue(())
    if str(field.type) in NULL_ALONE:
        return None
    return _leaf(field, step, row, types.get(field.id, ()))


def _leaf(field: Field, step: int, row: int, becomes: tuple[DataType, ...]) -> Value:
    number = code(field.id, step, row)
    match field.type:
        case Decimal(_, scale):
            return _decimal(number, scale, (field.type, *becomes))
        case Primitive("tinyint" | "smallint" as name):
            return number * STRIDE % SMALL[name]
        case Primitive("string" | "binary" | "variant" as name):
            text = _string(field.id, step, row, becomes)
            of_others = {"binary": text.encode(), "variant": f'{{"n":{number},"t":"{text}"}}'}
            return of_others.get(name, text)
        case Text(name, length):
            fits = _fitting(_string(field.id, step, row, becomes), number, length)
            return fits.ljust(length) if name == "char" else fits
        case Primitive("int" | "long"):
            return number
        case Primitive("float" | "double"):
            return number + (0.5 if _scale(becomes) else 0.0)
        case Primitive("boolean"):
            # Each field takes another bit of the row and the step: columns differ over the rows.
            return bool((row >> (field.id % 3)) & 1) ^ bool(step & 1)
        case Primitive("date"):
            return _date(field.id, step, row)
        case Primitive("timestamp" | "timestamp_ntz"):
            return _timestamp(number)
    raise TypeError(f"no traceable value of type {field.type}")


def _scale(becomes: tuple[DataType, ...]) -> int:
    """Return how many decimal places fit every type the column takes; two are more than enough."""
    limits = {"int": 0, "long": 0, "float": 1}
    return min(
        (t.scale if isinstance(t, Decimal) else limits.get(str(t), 2) for t in becomes), default=2
    )


def _decimal(number: int, scale: int, becomes: tuple[DataType, ...]) -> decimal.Decimal:
    digits = min(
        become.precision - become.scale for become in becomes if isinstance(become, Decimal)
    )
    places = min(_scale(becomes), 2)
    fraction = (decimal.Decimal(0), decimal.Decimal("0.5"), decimal.Decimal("0.25"))[places]
    exact = decimal.Context(prec=MAX_DECIMAL_PRECISION)
    value: decimal.Decimal = number % 10**digits + fraction
    return value.quantize(decimal.Decimal(1).scaleb(-scale), context=exact)


def _fitting(text: str, number: int, length: int) -> str:
    if len(text) <= length:
        return text
    return str(number * STRIDE % SHORT[length - 1] if length <= len(SHORT) else number)


def _date(field_id: int, step: int, row: int) -> datetime.date:
    return EPOCH + datetime.timedelta(days=(field_id * 40 + step) * 1_000 + row)


def _timestamp(number: int) -> datetime.datetime:
    return START + datetime.timedelta(seconds=number, milliseconds=250)


def _string(field_id: int, step: int, row: int, becomes: tuple[DataType, ...]) -> str:
    number = code(field_id, step, row)
    if Primitive("date") in becomes:
        return cast_text(_date(field_id, step, row))
    if {Primitive("timestamp"), Primitive("timestamp_ntz")} & set(becomes):
        return cast_text(_timestamp(number))
    if any(isinstance(become, Decimal) or str(become) in NUMBERS for become in becomes):
        return str(number)
    return f"f{field_id}s{step}r{row}"
