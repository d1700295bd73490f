"""What a reader shows that takes a stored value for one of another type, without a conversion.

Such a reader looks at its column's type alone, not at what the file says of its own: both kinds of
whole numbers, dates, floats and timestamps are numbers to it, and texts are bytes. What it cannot
take so it refuses.

Source: PrestoSQL 350 and Trino 368, Parquet files, whichever way columns are found
(`PrimitiveColumnReader.createReader`: a reader for the file's type; `IntColumnReader`,
`LongColumnReader` and `FloatColumnReader` then call `Type.writeLong` of the column's type with the
number, or with a float's bits; `BinaryColumnReader` calls `writeSlice`). Trino 476 refuses most of
it and shows the same of the rest (`ColumnReaderFactory.create`: whole numbers under dates and
floats, timestamps under `bigint`).
"""

from __future__ import annotations

import datetime
import decimal
import struct
from typing import Final

from harness.model.canonical import Value
from harness.model.conversion import INTEGERS
from harness.model.datatypes import DataType, Decimal, Primitive

EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone
SHORT_DECIMAL: Final = 18
"""Decimals of so many digits are kept as one number."""
YEARS: Final = 400
CYCLE: Final = 146_097
"""The days of so many years, after which the calendar is the same again."""
_TEXTS: Final = frozenset({"string", "binary"})
_NUMBERS: Final = frozenset({*INTEGERS, "date", "float"})
_TAKING: Final = frozenset({*_NUMBERS, "timestamp"})


def otherwise(source: DataType, to: DataType) -> bool:
    """Whether what is stored of a type shows something else than the value in another one."""
    match source, to:
        case Primitive(name), Decimal(precision, _):
            return name in _NUMBERS and precision <= SHORT_DECIMAL
        case Primitive(name), Primitive(other) if name != other:
            numbers = name in _NUMBERS and other in _TAKING and not {name, other} <= {*INTEGERS}
            return numbers or {name, other} == _TEXTS or (name, other) == ("timestamp", "long")
    return False


def taken(value: Value, to: DataType) -> Value:
    """Return what is shown of a stored value that is not NULL, where that is something else.

    >>> str(taken(8000, Primitive("date"))), str(taken(8000, Decimal(12, 2)))
    ('1991-11-27', '80.00')
    >>> taken(1.5, Primitive("int")), taken(1069547520, Primitive("float"))
    (1069547520, 1.5)

    Raises:
        ValueError: the column's type has no such value.

    """
    try:
        return _taken(value, to)
    except (ValueError, ArithmeticError, struct.error) as wrong:
        raise ValueError(f"{value} is no {to} as it is stored") from wrong


def _taken(value: Value, to: DataType) -> Value:
    match value, to:
        case str(), Primitive("binary"):
            return value.encode()
        case bytes(), Primitive("string"):
            return value.decode()
        case _, Decimal(_, scale):
            return decimal.Decimal(number(value)).scaleb(-scale)
        case _, Primitive("date"):
            return _day(_whole(number(value), Primitive("int")))
        case _, Primitive("timestamp"):
            return EPOCH + datetime.timedelta(microseconds=number(value))
        case _, Primitive("float"):
            result: float = struct.unpack("<f", struct.pack("<i", number(value)))[0]
            return result
    return _whole(number(value), to)


def _day(number: int) -> Value:
    """Return a date; one beyond the years 1 to 9999 as the text of Java's `LocalDate`.

    >>> str(_day(8000)), _day(2139095039), _day(-8388609), _day(-719528)
    ('1991-11-27', '+5858613-04-19', '-20998-10-09', '0000-01-01')
    """
    cycles, rest = divmod(number, CYCLE)
    day = EPOCH.date() + datetime.timedelta(days=rest)
    year = day.year + YEARS * cycles
    if datetime.MINYEAR <= year <= datetime.MAXYEAR:
        return day.replace(year=year)
    sign = "+" if year > datetime.MAXYEAR else "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}{day:-%m-%d}"


def _whole(number: int, to: DataType) -> int:
    bound = INTEGERS[str(to)]
    if not -bound <= number < bound:
        raise ValueError(number)
    return number


def number(value: Value) -> int:
    """Return the number that stands in the file: days, microseconds, or the bits of a float.

    Raises:
        ValueError: it is none of these, nor a whole number.

    """
    match value:
        case float():
            bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
            return bits
        case datetime.datetime():
            return (value - EPOCH) // datetime.timedelta(microseconds=1)
        case datetime.date():
            return (value - EPOCH.date()).days
        case int():
            return value
    raise ValueError(value)
