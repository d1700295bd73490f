"""Types of Iceberg's columns as Arrow has them, and values that its records hold.

Source: Iceberg table specification, "Primitive Types", "Default values" and "Appendix D:
Single-value serialization", "JSON single-value serialization".
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from harness.core.arrow import kinds, pa
from harness.engines.arrow_values import array_of, canonical, variant
from harness.formats.files.column_parts import part_of
from harness.model.canonical import MapValue, Value, moment

_PLAIN: Final = {
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "date": "date32",
    "time": "time64[us]",
    "timestamp": "timestamp[us]",
    "timestamp_ns": "timestamp[ns]",
    "string": "string",
    "binary": "binary",
    "unknown": "null",
}
_ZONED: Final = {"timestamptz": "us", "timestamptz_ns": "ns"}
_DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_FIXED: Final = re.compile(r"fixed\[(\d+)\]")
_SHAPE: Final = re.compile(r"geo(metry|graphy)(\(.*\))?")
"""Well-known binary."""
DEFAULT: Final = "initial-default"


def arrow_type(word: str) -> pa.DataType:
    """Return Arrow's type of one without parts; raises ValueError."""
    if word in _PLAIN:
        return pa.type_for_alias(_PLAIN[word])
    if word in _ZONED:
        return pa.timestamp(_ZONED[word], "UTC")
    if word in {"uuid", "variant"}:
        return pa.uuid() if word == "uuid" else variant()
    if match := _DECIMAL.fullmatch(word):
        return pa.decimal128(int(match[1]), int(match[2]))
    if match := _FIXED.fullmatch(word):
        return pa.binary(int(match[1]))
    if _SHAPE.fullmatch(word):
        return pa.binary()
    raise ValueError(f"'{word}' is no type of an Iceberg table")


def may_become(stored: pa.DataType, type_: pa.DataType) -> bool:
    """Return whether a file's column may be one of a type ("Schema Evolution", "Appendix A").

    Apart from promotions, kinds of files have some types in one that is more general.
    """
    if stored == type_ or kinds.is_null(stored):
        return True
    stored = getattr(stored, "storage_type", stored)
    if kinds.is_integer(stored):
        is_wider = kinds.is_integer(type_) and stored.bit_width <= type_.bit_width
        return bool(is_wider or kinds.is_time(type_))
    if kinds.is_floating(stored):
        return bool(kinds.is_floating(type_) and stored.bit_width <= type_.bit_width)
    if kinds.is_decimal(stored):
        return bool(kinds.is_decimal(type_) and stored.scale == type_.scale)
    if kinds.is_date(stored) or kinds.is_timestamp(stored):
        return bool(kinds.is_timestamp(type_))
    if kinds.is_struct(stored):
        return bool(type_ == variant())
    if kinds.is_time(stored):
        return bool(kinds.is_time(type_))
    return _has_bytes(stored) and (_has_bytes(type_) or str(type_) == str(arrow_type("uuid")))


def _has_bytes(type_: pa.DataType) -> bool:
    tests = kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary
    return any(test(type_) for test in (*tests, kinds.is_fixed_size_binary))


def of_partition(stored: Any, word: str) -> Value:  # noqa: ANN401 - whatever Avro gives
    """Return a partition's value in the type of its column; raises ValueError, Arrow's errors."""
    if word.startswith("timestamp") and type(stored) is datetime.date:
        stored = datetime.datetime.combine(stored, datetime.time())  # a promoted date
    return canonical(array_of([stored], arrow_type(word))[0])


def of_json(stored: Any, type_: Any) -> Value:  # noqa: ANN401 - JSON
    """Return a value in canonical form; raises ValueError, TypeError or KeyError.

    >>> of_json("14.20", "decimal(4, 2)"), of_json("61", "binary")
    (Decimal('14.20'), b'a')
    """
    if stored is None:
        return None
    match type_:
        case {"fields": fields}:
            return {
                field["name"]: of_json(stored[key], field["type"])
                if (key := str(field["id"])) in stored
                else default(field)
                for field in fields
            }
        case {"element": element}:
            return tuple(of_json(part, element) for part in stored)
        case {"key": key, "value": value}:
            pairs = zip(stored["keys"], stored["values"], strict=True)
            return MapValue.of([(of_json(k, key), of_json(v, value)) for k, v in pairs])
    return canonical(array_of([_plain(stored, str(type_))], arrow_type(str(type_)))[0])


def _plain(stored: Any, word: str) -> Value:  # noqa: ANN401 - JSON
    """Return a value without parts as Arrow takes it."""
    match word:
        case "float" | "double":
            return float(stored)
        case "date":
            return datetime.date.fromisoformat(stored)
        case "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns":
            return moment(_in_utc(stored))
    if word.startswith("decimal"):
        return Decimal(stored)
    return bytes.fromhex(stored) if word == "binary" or word.startswith("fixed") else stored


def _in_utc(text: str) -> str:
    """Return a moment in the form of canonical texts, without its zone, which must be UTC."""
    plain = text.removesuffix("+00:00").removesuffix("Z").replace("T", " ")
    return plain if plain.count(":") > 1 else f"{plain}:00"


def default(field: Mapping[str, Any]) -> Value:
    """Return what stands for a field that a file lacks.

    The default of a struct is NULL, or a struct of the defaults of its parts ("Default values").
    """
    return of_json(field.get(DEFAULT), field["type"])


def defaults(fields: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Value]]:
    """Yield those that are not NULL of columns and all their parts, by id."""
    for field in fields:
        if field.get(DEFAULT) is not None:
            yield int(field["id"]), default(field)
        yield from defaults(_inner(field["type"]))


def _inner(type_: Any) -> Sequence[Mapping[str, Any]]:  # noqa: ANN401 - JSON
    """Return the fields that have a type inside, those of lists and maps among them."""
    match type_:
        case {"fields": fields}:
            return list(fields)
        case {"element": element}:
            return [{"id": type_["element-id"], "type": element}]
        case {"key": key, "value": value}:
            return [{"id": type_["key-id"], "type": key}, {"id": type_["value-id"], "type": value}]
    return ()


def types(fields: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    for field in fields:
        yield int(field["id"]), part_of("", field["id"], field["type"]).type
        yield from types(_inner(field["type"]))
