"""Readers convert values whose type in the file is not the column's; here are those that change."""

import datetime
import decimal
import math
import re
import struct
from typing import Final

from harness.model.canonical import Value, leaves, map_leaves, single
from harness.model.conversion import INTEGERS, cast_text, convert
from harness.model.datatypes import DataType, Decimal, Primitive, Text

EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone
SHORT_DECIMAL: Final = 18
"""Decimals of so many digits are kept as one number."""
YEARS: Final = 400
CYCLE: Final = 146_097
"""The days of so many years, after which the calendar is the same again."""
_BYTES: Final = frozenset({"string", "binary"})
_NUMBERS: Final = frozenset({*INTEGERS, "date", "float"})
_TAKING: Final = frozenset({*_NUMBERS, "timestamp"})


def stored_differs(source: DataType, to: DataType) -> bool:
    """Whether what is stored of a type shows something else than the value in another one.

    A reader may look at its column's type alone: both kinds of whole numbers, dates, floats and
    timestamps are numbers to it, and texts are bytes; what it cannot take so it refuses. Source:
    PrestoSQL 350 and Trino 368, Parquet files (`PrimitiveColumnReader.createReader`: a reader for
    the file's type, which calls `Type.writeLong` or `writeSlice` of the column's type). Trino 476
    refuses most of it (`ColumnReaderFactory.create`).
    """
    match source, to:
        case Primitive(name), Decimal(precision, _):
            return name in _NUMBERS and precision <= SHORT_DECIMAL
        case Primitive(name), Primitive(other) if name != other:
            numbers = name in _NUMBERS and other in _TAKING and not {name, other} <= {*INTEGERS}
            return numbers or {name, other} == _BYTES or (name, other) == ("timestamp", "long")
    return False


def stored_value(value: Value, to: DataType) -> Value:
    """Return what is shown of a stored value that is not NULL, where that is something else.

    Raises ValueError: the column's type has no such value.
    """
    try:
        match value, to:
            case str(), Primitive("binary"):
                return value.encode()
            case bytes(), Primitive("string"):
                return value.decode()
            case _, Decimal(_, scale):
                return decimal.Decimal(stored_number(value)).scaleb(-scale)
            case _, Primitive("date"):
                return _java_day(_within(stored_number(value), Primitive("int")))
            case _, Primitive("timestamp"):
                return EPOCH + datetime.timedelta(microseconds=stored_number(value))
            case _, Primitive("float"):
                return struct.unpack("<f", struct.pack("<i", stored_number(value)))[0]
        return _within(stored_number(value), to)
    except (ValueError, ArithmeticError, struct.error) as wrong:
        raise ValueError(f"{value} is no {to} as it is stored") from wrong


def _java_day(number: int) -> Value:
    """Return a date; one beyond the years 1 to 9999 as the text of Java's `LocalDate`.

    >>> str(_java_day(8000)), _java_day(2139095039), _java_day(-8388609), _java_day(-719528)
    ('1991-11-27', '+5858613-04-19', '-20998-10-09', '0000-01-01')
    """
    cycles, rest = divmod(number, CYCLE)
    day = EPOCH.date() + datetime.timedelta(days=rest)
    year = day.year + YEARS * cycles
    if datetime.MINYEAR <= year <= datetime.MAXYEAR:
        return day.replace(year=year)
    sign = "+" if year > datetime.MAXYEAR else "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}{day:-%m-%d}"


def _within(number: int, to: DataType) -> int:
    bound = INTEGERS[str(to)]
    if not -bound <= number < bound:
        raise ValueError(number)
    return number


def stored_number(value: Value) -> int:
    """Return the number that stands in the file: days, microseconds, or the bits of a float.

    Raises ValueError: it is none of these, nor a whole number.
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


MILLISECOND: Final = 1000
"""Microseconds of one."""


def finer(value: Value) -> bool:
    return any(map(_is_finer, leaves(value)))


def cut(value: Value) -> Value:
    """Return a value with its timestamps cut to milliseconds, towards 1970.

    Source: Hive with Hudi's input formats (`Hive3Shim.getTimestampWriteable`, Hudi 1.0.2: the
    stored microseconds are divided by 1000 as whole numbers).

    >>> str(cut((datetime.datetime(1969, 12, 31, 23, 59, 59, 123456),))[0])
    '1969-12-31 23:59:59.124000'
    """
    return map_leaves(value, _cut) if finer(value) else value


def _is_finer(value: Value) -> bool:
    return isinstance(value, datetime.datetime) and value.microsecond % MILLISECOND != 0


def _cut(value: Value) -> Value:
    if not _is_finer(value):
        return value
    left = value.microsecond % MILLISECOND
    away = left - MILLISECOND if value < EPOCH else left
    return value - datetime.timedelta(microseconds=away)


_ORC_PLAIN: Final = frozenset({*INTEGERS, "boolean", "float", "double", "string", "date"})
_ORC_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_ORC_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_ORC_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def converted_differs(source: DataType, to: DataType) -> bool:
    """Return whether ORC's library may show a value as something else than itself in another type.

    What does not fit is cut (texts), loses its fraction (whole numbers) or becomes NULL. Source:
    Apache ORC 1.5, `ConvertTreeReaderFactory` (`assignStringGroupVectorEntry`,
    `downCastAnyInteger`, `parseLongFromString` …); seen on Hive 3.1.3.
    """
    if source == to or not (_converts(source) and _converts(to)):
        return False
    if isinstance(source, Primitive) and isinstance(to, Primitive):
        widened = INTEGERS.get(source.name, 0) < INTEGERS.get(to.name, 0)
        as_text = to.name == "string" and source.name not in {"boolean", "float", "double"}
        return not (widened and source.name in INTEGERS) and not as_text
    return True


def _converts(type_: DataType) -> bool:
    return isinstance(type_, Decimal | Text) or (
        isinstance(type_, Primitive) and type_.name in _ORC_PLAIN
    )


def converted_value(value: Value, source: DataType, to: DataType) -> Value:
    """Return what is shown of a value of one type, which is not NULL, in another one.

    Raises ValueError: what is shown is not predicted.
    """
    filled = isinstance(source, Text) and source.name == "char"
    try:
        return _converted(value.rstrip(" ") if filled else value, to)
    except (ValueError, ArithmeticError, TypeError) as wrong:
        raise ValueError(f"{value} is not converted to {to}") from wrong


def _converted(value: Value, to: DataType) -> Value:
    match to:
        case Text(name, length):
            cut = _orc_text(value)[:length]
            return cut.rstrip(" ").ljust(length) if name == "char" else cut
        case Decimal(precision, scale):
            return _orc_decimal(value, precision, scale)
        case Primitive("string"):
            return _orc_text(value)
        case Primitive("date"):
            text = cast_text(value)
            return datetime.date.fromisoformat(text) if _ORC_DAY.fullmatch(text) else None
        case Primitive("float" | "double" as name):
            if isinstance(value, str) and not _ORC_NUMBER.fullmatch(value):
                return None
            return single(float(value)) if name == "float" else float(value)
    number = _orc_whole(value)
    if number is None or to == Primitive("boolean"):
        return None if number is None else number != 0
    return number if -INTEGERS[str(to)] <= number < INTEGERS[str(to)] else None


def _orc_text(value: Value) -> str:
    return str(value).upper() if isinstance(value, bool) else cast_text(value)


def _orc_whole(value: Value) -> int | None:
    match value:
        case str():
            return int(value) if _ORC_WHOLE.fullmatch(value) else None
        case float() if not math.isfinite(value):
            return None
        case int() | float() | decimal.Decimal():
            return int(value)
    raise ValueError(value)


def _orc_decimal(value: Value, precision: int, scale: int) -> decimal.Decimal | None:
    text = str(int(value)) if isinstance(value, bool) else cast_text(value)
    if not _ORC_NUMBER.fullmatch(text):
        return None
    exact = decimal.Context(prec=80, rounding=decimal.ROUND_HALF_UP)
    result = decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-scale), context=exact)
    return result if len(result.as_tuple().digits) <= precision else None


_CAST_WHOLE: Final = re.compile(r"\s*[+-]?[\d.]+\s*")
_CAST_NUMBER: Final = re.compile(
    r"\s*[+-]?(?:[\d.]+(?:e[+-]?\d+)?[fd]?|inf(?:inity)?|nan)\s*", re.IGNORECASE
)
"""With all that Spark takes for a number elsewhere: exponents, Java's `1d`, and what has no digits
(`Cast.processFloatingPointSpecialLiterals`)."""


def cast_differs(source: DataType, to: DataType) -> bool:
    """Return whether a cast from one type to another may give NULL: of texts that are no numbers.

    Source: Spark's `Cast`, which is not ANSI's unless that is asked for, and what puts it there
    where a file has a column with another type than the table (`HoodieParquetFileFormatHelper.
    buildImplicitSchemaChangeInfo` and `generateUnsafeProjection`, Hudi 1.0.2); seen on
    merge-on-read tables. A file read by the vectorized reader is refused instead.
    """
    match source, to:
        case Primitive("string"), Primitive(name):
            return name in INTEGERS or name in {"float", "double"}
        case Primitive("string"), Decimal():
            return True
    return False


def cast_value(value: Value, to: DataType) -> Value:
    """Return what a text becomes as a number.

    Raises ValueError: it is a number that has no exact form in the type, or is too great for it.
    """
    number = _CAST_WHOLE if str(to) in INTEGERS else _CAST_NUMBER
    other = isinstance(value, str) and not number.fullmatch(value)
    return None if other else convert(value, to)
