"""Spark's names of types, and its decimals, in our words. Pure."""

import decimal
from contextlib import suppress
from functools import lru_cache
from typing import Final

from harness.model.canonical import MapValue, Value, json_text
from harness.model.datatypes import (
    VARIANT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    TypeTextError,
    parse_type,
)

_DIGITS: Final = decimal.Context(prec=60)


def canonical_type(text: str) -> str:
    """Return the type that Spark calls `text`, empty when there is none of ours."""
    return str(_parsed(text) or "")


@lru_cache(maxsize=1000)
def _parsed(text: str) -> DataType | None:
    try:
        return parse_type(text, {"bigint": "long", "void": "unknown"})
    except TypeTextError:
        return None


def as_declared(value: Value, text: str) -> Value:
    """Return a value whose decimals have no more places than the type that Spark calls `text`.

    PySpark takes them from Java's `toEngineeringString`, which writes zeros behind a small one. Of
    a variant it has the JSON.
    """
    if text == str(VARIANT) and value is not None:
        with suppress(ValueError):  # infinity and NaN have none
            return json_text(value)
    return _as(value, _parsed(text)) if "decimal" in text else value


def _as(value: Value, type_: DataType | None) -> Value:
    match type_:
        case Decimal(_, scale) if isinstance(value, decimal.Decimal):
            return _with_places(value, scale)
        case Struct(fields) if isinstance(value, dict):
            types = dict(fields)
            return {name: _as(part, types.get(name)) for name, part in value.items()}
        case Array(element) if isinstance(value, tuple):
            return tuple(_as(part, element) for part in value)
        case Map(key, part) if isinstance(value, MapValue):
            return MapValue(tuple((_as(k, key), _as(v, part)) for k, v in value.pairs))
    return value


def _with_places(value: decimal.Decimal, scale: int) -> decimal.Decimal:
    if not value.is_finite() or -int(value.as_tuple().exponent) <= scale:
        return value
    exact = value.quantize(decimal.Decimal(1).scaleb(-scale), context=_DIGITS)
    return exact if exact == value else value  # never another one
