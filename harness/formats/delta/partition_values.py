"""The value of a partition column from its text in the log, whatever folders and files say. Pure.

Source: Delta transaction log protocol, "Partition Value Serialization".
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Mapping
from typing import Final

from harness.model.canonical import Value, single

DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_EXACT: Final = decimal.Context(prec=80, traps=[decimal.Inexact, decimal.InvalidOperation])
_BOOLEANS: Final = {"true": True, "false": False}


def value(text: str | None, type_: str) -> Value:
    """Return the value of a type, in Delta's words, that a text stands for.

    An empty text is NULL, whatever the type. A moment without a zone is one of UTC.

    >>> value("", "string"), value("1.5", "decimal(3,2)"), value("2024-01-01T01:00Z", "timestamp")
    (None, Decimal('1.50'), datetime.datetime(2024, 1, 1, 1, 0))

    Raises ValueError: it stands for none.
    """
    if not text:
        return None
    try:
        if exact := DECIMAL.fullmatch(type_):
            return _decimal(text, int(exact[1]), int(exact[2]))
        return _PLAIN[type_](text)
    except (ValueError, KeyError, ArithmeticError) as problem:
        raise ValueError(f"'{text}' stands for no {type_}") from problem


def _decimal(text: str, precision: int, scale: int) -> decimal.Decimal:
    number = _EXACT.create_decimal(text).quantize(decimal.Decimal(1).scaleb(-scale), context=_EXACT)
    if not number.is_finite() or len(number.as_tuple().digits) > max(precision, 1):
        raise ValueError(text)
    return number


def _timestamp(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC)
    return moment.replace(tzinfo=None)


def _binary(text: str) -> bytes:
    # The bytes stand there as letters, which Spark makes of them by UTF-8.
    return text.encode()


_PLAIN: Final[Mapping[str, Callable[[str], Value]]] = {
    "string": str,
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    "float": lambda text: single(float(text)),
    "double": float,
    "boolean": lambda text: _BOOLEANS[text.lower()],
    "binary": _binary,
    "date": datetime.date.fromisoformat,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
}
