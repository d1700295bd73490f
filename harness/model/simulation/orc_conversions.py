"""What the library of ORC shows of a value that it converts to the type of a table's column.

A reader that finds columns by position may meet any type there. What does not fit is cut (texts),
loses its fraction (whole numbers) or becomes NULL.

Source: Apache ORC 1.5, `ConvertTreeReaderFactory` (`assignStringGroupVectorEntry`,
`downCastAnyInteger`, `parseLongFromString` …); seen on Hive 3.1.3.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from typing import Final

from harness.model.canonical import Value, single
from harness.model.conversion import INTEGERS, cast_text
from harness.model.datatypes import DataType, Decimal, Primitive, Text
from harness.model.file_facts import FileFact

_PLAIN: Final = frozenset({*INTEGERS, "boolean", "float", "double", "string", "date"})
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def may_convert(fact: FileFact) -> bool:
    """Return whether the library may read a file: not where its name says that it is Parquet."""
    return not fact.path.endswith(".parquet")


def otherwise(source: DataType, to: DataType) -> bool:
    """Return whether a value may be shown as something else than itself in another type."""
    if source == to or not (_converts(source) and _converts(to)):
        return False
    if isinstance(source, Primitive) and isinstance(to, Primitive):
        widened = INTEGERS.get(source.name, 0) < INTEGERS.get(to.name, 0)
        as_text = to.name == "string" and source.name not in {"boolean", "float", "double"}
        return not (widened and source.name in INTEGERS) and not as_text
    return True


def _converts(type_: DataType) -> bool:
    return isinstance(type_, Decimal | Text) or (
        isinstance(type_, Primitive) and type_.name in _PLAIN
    )


def taken(value: Value, source: DataType, to: DataType) -> Value:
    """Return what is shown of a value of one type, which is not NULL, in another one.

    >>> number = Primitive("int")
    >>> taken(301001, number, Text("char", 5)), taken("f5s1r1", Primitive("string"), number)
    ('30100', None)
    >>> taken(2.5, Primitive("double"), number), taken(70000, number, Primitive("smallint"))
    (2, None)
    >>> taken("ab ", Text("char", 3), Primitive("string"))
    'ab'

    Raises:
        ValueError: what is shown is not predicted.

    """
    filled = isinstance(source, Text) and source.name == "char"
    try:
        return _taken(value.rstrip(" ") if filled else value, to)
    except (ValueError, ArithmeticError, TypeError) as wrong:
        raise ValueError(f"{value} is not converted to {to}") from wrong


def _taken(value: Value, to: DataType) -> Value:
    match to:
        case Text(name, length):
            cut = _text(value)[:length]
            return cut.rstrip(" ").ljust(length) if name == "char" else cut
        case Decimal(precision, scale):
            return _decimal(value, precision, scale)
        case Primitive("string"):
            return _text(value)
        case Primitive("date"):
            return _date(value)
        case Primitive("boolean"):
            number = _whole(value)
            return None if number is None else number != 0
        case Primitive("float" | "double" as name):
            return _floating(value, name)
    number = _whole(value)
    bound = INTEGERS[str(to)]
    return number if number is not None and -bound <= number < bound else None


def _text(value: Value) -> str:
    return str(value).upper() if isinstance(value, bool) else cast_text(value)


def _whole(value: Value) -> int | None:
    match value:
        case str():
            return int(value) if _WHOLE.fullmatch(value) else None
        case float() if not math.isfinite(value):
            return None
        case int() | float() | decimal.Decimal():
            return int(value)
    raise ValueError(value)


def _floating(value: Value, name: str) -> float | None:
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    return single(float(value)) if name == "float" else float(value)


def _decimal(value: Value, precision: int, scale: int) -> decimal.Decimal | None:
    text = str(int(value)) if isinstance(value, bool) else cast_text(value)
    if not _NUMBER.fullmatch(text):
        return None
    exact = decimal.Context(prec=80, rounding=decimal.ROUND_HALF_UP)
    result = decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-scale), context=exact)
    return result if len(result.as_tuple().digits) <= precision else None


def _date(value: Value) -> Value:
    text = cast_text(value)
    return datetime.date.fromisoformat(text) if _DAY.fullmatch(text) else None
