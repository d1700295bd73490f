"""The value of a type that a text stands for, as logs and names of folders have it."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from harness.core.arrow import kinds, pa
from harness.formats.api import FileFactError
from harness.formats.read_plan import Id
from harness.model.canonical import Value, single

_EXACT: Final = decimal.Context(prec=80, traps=[decimal.Inexact, decimal.InvalidOperation])
_BOOLEANS: Final = {"true": True, "false": False}


def value(text: str | None, type_: pa.DataType) -> Value:
    """Return the canonical value; a moment without a zone is one of UTC.

    >>> import pyarrow as pa
    >>> value("1.5", pa.decimal128(3, 2)), value("2024-01-01T01:00:00Z", pa.timestamp("us", "UTC"))
    (Decimal('1.50'), datetime.datetime(2024, 1, 1, 1, 0))

    Raises ValueError: it stands for none.
    """
    if text is None:
        return None
    try:
        return _value(text, type_)
    except (ValueError, KeyError, ArithmeticError) as problem:
        raise ValueError(f"'{text}' stands for no {type_}") from problem


def constants(
    path: str,
    columns: Iterable[tuple[Id, str, str | None, str]],
    value_of: Callable[[str | None, str], Value],
) -> Mapping[Id, Value]:
    """Return the values of the columns of a partition by their ids.

    `columns`: of each its id, its name, the text of its value, and the format's word for its type;
    `value_of` has the last two. Raises FileFactError, with `path`: a text stands for no value.
    """
    constants_by_id: dict[Id, Value] = {}
    for id_, name, text, word in columns:
        try:
            constants_by_id[id_] = value_of(text, word)
        except ValueError as problem:
            raise FileFactError(f"{path}: {name}: {problem}") from problem
    return constants_by_id


def _value(text: str, type_: pa.DataType) -> Value:
    if kinds.is_decimal(type_):
        unit = decimal.Decimal(1).scaleb(-type_.scale)
        number = _EXACT.create_decimal(text).quantize(unit, context=_EXACT)
        if len(number.as_tuple().digits) > type_.precision:
            raise ValueError(text)
        return number
    if kinds.is_integer(type_):
        whole, bound = int(text), 1 << type_.bit_width - 1
        if not -bound <= whole < bound:
            raise ValueError(text)
        return whole
    if kinds.is_floating(type_):
        return single(float(text)) if type_.bit_width == _SINGLE else float(text)
    if kinds.is_boolean(type_):
        return _BOOLEANS[text.lower()]
    if kinds.is_date(type_):
        return datetime.date.fromisoformat(text)
    if kinds.is_timestamp(type_):
        moment = datetime.datetime.fromisoformat(text)
        utc = moment.astimezone(datetime.UTC) if moment.tzinfo else moment
        return utc.replace(tzinfo=None)
    # The bytes stand there as letters, which Spark makes of them by UTF-8.
    return text.encode() if kinds.is_binary(type_) else text


_SINGLE: Final = 32
