"""A value in another type: exactly the same value, or an error; nothing is ever rounded.

The texts are those of Java and SQL casts: `7.5`, `12.50`, `2024-02-29`, `2001-01-01 00:00:00.25`.
"""

import datetime
import decimal
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from harness.model.canonical import MapValue, Value, json_text, single, text_of
from harness.model.datatypes import DataType, Decimal, Primitive, Text

INTEGERS: Final = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31, "long": 2**63}
"""The first whole number that is too great."""
PLAIN_FLOATS: Final = (1e-3, 1e7)
"""Outside, Java writes a floating number with an exponent, and engines differ."""
GREATEST: Final = 400
"""No type of ours has a number of more digits, before the point or behind it."""
BEYOND_FLOAT: Final = 3.4028235677973366e38
"""The least number that is too great to be rounded to a 32-bit one."""
_EXACT: Final = decimal.Context(prec=80, traps=[decimal.Inexact, decimal.InvalidOperation])
_FINER: Final = re.compile(r"[.,]\d{6}\d*[1-9]")
"""More than microseconds; Python would cut them off."""
_NUMBER: Final = re.compile(r"[^\s_]+")
"""Python would take blanks and `1_000` as well."""
_BYTES: Final = re.compile(r"0x([0-9a-fA-F]{2})*")
_HINTS: Final = {
    "timestamp": "write 2024-01-31 12:00:00.123456, no finer; with an offset (+02:00) it is the "
    "same moment in UTC",
    "timestamp_ntz": "write 2024-01-31 12:00:00.123456, no finer, and no offset: it has no zone",
    "date": "write 2024-01-31, the year from 0001 to 9999",
    "binary": 'write its bytes as quoted text: "0x00ff"',
    "boolean": "write true or false",
    "variant": """write its JSON as quoted text: '{"a": [1, null]}'""",
}
"""What people who gave another value are told."""


def convert(value: Value, to: DataType) -> Value:
    """Return the same value in another type that its column has taken since.

    Raises ValueError: there is no exact form in that type.
    """
    if value is None:
        return None
    try:
        return _converted(value, to)
    except (ValueError, ArithmeticError, TypeError, KeyError) as wrong:
        hint = _HINTS.get(str(to), "")
        message = f"'{text_of(value)}' has no exact form as {to}"
        raise ValueError(f"{message}; {hint}" if hint else message) from wrong


def _converted(value: Value, to: DataType) -> Value:
    match to:
        case Primitive(name):
            return _PLAIN[name](value)
        case Decimal(precision, scale):
            return _decimal(value, precision, scale)
        case Text(name, length):
            text = cast_text(value)
            if len(text) > length:
                raise ValueError(value)
            # A `char` is always filled up (SQL standard, "Character strings").
            return text.ljust(length) if name == "char" else text
    raise TypeError(to)


def _number(value: Value) -> decimal.Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | decimal.Decimal):
        raise TypeError(value)
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise ValueError(value)
    return decimal.Decimal(repr(value) if isinstance(value, float) else value)


def _of_kind(value: Value, kind: type) -> Value:
    if not isinstance(value, kind):
        raise TypeError(value)
    return value


def _integer(value: Value, bound: int) -> int:
    number = value if type(value) is int else _number(value)
    whole = int(number)
    if whole != number or not -bound <= whole < bound:
        raise ValueError(value)
    return whole


def _decimal(value: Value, precision: int, scale: int) -> decimal.Decimal:
    exact = _number(value).quantize(decimal.Decimal(1).scaleb(-scale), context=_EXACT)
    if not exact.is_finite() or len(exact.as_tuple().digits) > precision:
        raise ValueError(value)
    return exact or abs(exact)  # exact numbers have no negative zero


def _binary(value: Value) -> Value:
    if isinstance(value, str) and _BYTES.fullmatch(value):
        return bytes.fromhex(value[2:])
    return _of_kind(value, bytes)


def _double(value: Value) -> float:
    if isinstance(value, float):
        return value
    number = _number(value)
    result = float(number)
    # Decimal(float) is the exact binary value; a number written in decimal (0.1) is what its
    # shortest text says, so that any double can be given.
    if decimal.Decimal(repr(result)) != number:
        raise ValueError(value)
    return result


def _float(value: Value) -> float:
    result = _double(value)
    # What is infinite or NaN is the same in both widths.
    if math.isfinite(result) and single(result) != result:
        raise ValueError(value)
    return result


def _date(value: Value) -> datetime.date:
    if isinstance(value, str):
        return datetime.date.fromisoformat(value)
    if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
        raise TypeError(value)
    return value


def _timestamp(value: Value, name: str) -> datetime.datetime:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    if isinstance(value, str) and _FINER.search(value):
        raise ValueError(value)
    moment = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime.datetime):
        raise TypeError(value)
    if moment.tzinfo is None:
        return moment
    if name == "timestamp_ntz":
        raise ValueError(value)
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)


def cast_text(value: Value) -> str:
    """Return the text that a cast to string makes of a value without parts.

    Raises ValueError: engines write it in more than one way, or it has parts.
    """
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case float():
            if value and not PLAIN_FLOATS[0] <= abs(value) < PLAIN_FLOATS[1]:
                raise ValueError(value)
            return repr(value)
        case datetime.datetime():
            text = value.isoformat(sep=" ")
            return text.rstrip("0") if value.microsecond else text
        case decimal.Decimal():
            return f"{value:f}"
        case int() | datetime.date():
            return str(value)
    raise ValueError(value)


def is_two_numbers(value: Value, to: DataType) -> bool:
    """Return whether a float may be taken for another number in a wider type or as a text.

    Hudi 1.0.2 and later take it for the number that its shortest text says (apache/hudi#13188),
    readers of Parquet files for the one that it is.

    >>> [is_two_numbers(n, Primitive("double")) for n in (0.10000000149011612, 0.5, 0.1)]
    [True, False, False]
    """
    if not isinstance(value, float) or str(to) not in {"double", "string"}:
        return False
    if not abs(value) < BEYOND_FLOAT or single(value) != value:  # NaN is not less
        return False
    texts = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    near = (text for text in texts if abs(text) < BEYOND_FLOAT)
    return next(number for number in near if single(number) == value) != value


def nested_text(value: Value) -> str:
    """Return the text that Spark's cast to string makes of a struct, an array or a map.

    Source: Apache Spark 3.5, `ToStringBase` (`spark.sql.legacy.castComplexTypesToString.enabled`
    off); it reads a dropped column so under a string column of its name.

    >>> nested_text({"a": "x", "b": (1, None), "m": MapValue((("k", 2),))})
    '{x, [1, null], {k -> 2}}'

    Raises ValueError: engines write some part in more than one way.
    """
    match value:
        case None:
            return "null"
        case dict():
            return f"{{{', '.join(map(nested_text, value.values()))}}}"
        case tuple():
            return f"[{', '.join(map(nested_text, value))}]"
        case MapValue():
            pairs = (f"{nested_text(key)} -> {nested_text(pair)}" for key, pair in value.pairs)
            return f"{{{', '.join(pairs)}}}"
    return cast_text(value)


def read_back(text: str) -> Iterator[Value]:
    """Yield the number or the time that a text shows, however a cast wrote it; nothing is cut off.

    >>> [str(value) for text in ("7.50  ", "2001-01-01T00:00:00.250") for value in read_back(text)]
    ['7.50', '2001-01-01 00:00:00.250000']
    """
    text = text.rstrip(" ")
    with suppress(ValueError, ArithmeticError):
        number = _number(text)
        if not number.is_finite():
            yield float(number)
        elif abs(number.adjusted()) <= GREATEST:
            yield number
    with suppress(ValueError):
        yield _timestamp(text, "timestamp_ntz")


_PLAIN: Final[Mapping[str, Callable[[Value], Value]]] = {
    "boolean": partial(_of_kind, kind=bool),
    **{name: partial(_integer, bound=bound) for name, bound in INTEGERS.items()},
    "float": _float,
    "double": _double,
    "string": cast_text,
    "binary": _binary,
    "date": _date,
    **{name: partial(_timestamp, name=name) for name in ("timestamp", "timestamp_ntz")},
    "variant": lambda value: json_text(_of_kind(value, str)),
}
"""What makes a value one of a type without parameters, by the name of the type."""
