"""Arrow's types and values in canonical form."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from harness.core.arrow import kinds, pa
from harness.model.canonical import MapValue, Value, from_json, json_text, moment, to_json
from harness.model.datatypes import DataType, Decimal, PlainType, Text, fold

_ARROW: Final = {
    "boolean": "bool",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "long": "int64",
    "date": "date32[day]",
    "timestamp_ntz": "timestamp[us]",
    "unknown": "null",
}
_NAMES: Final = {
    **{name: ours for ours, name in _ARROW.items()},
    **{name: name for name in ("float", "double", "string", "binary")},
    **dict.fromkeys(("large_string", "string_view"), "string"),
    **dict.fromkeys(("large_binary", "binary_view"), "binary"),
}


def arrow_type(kind: DataType) -> pa.DataType:
    """Return Arrow's type for one of ours in a Hive table; its timestamps are counted in UTC."""

    def plain(kind: PlainType) -> pa.DataType:
        match kind:
            case Decimal(precision, scale):
                return pa.decimal128(precision, scale)
            case Text():
                return pa.string()
        if str(kind) == "timestamp":
            return pa.timestamp("us", "UTC")
        return pa.type_for_alias(_ARROW.get(str(kind), str(kind)))

    return fold(kind, plain, pa.struct, pa.list_, pa.map_)


def canonical_type(type_: pa.DataType) -> str:
    """Return our text of a type; empty when there is none of ours."""
    if kinds.is_struct(type_):
        parts = [(part.name, canonical_type(part.type)) for part in type_]
        inside = ", ".join(f"{name}: {of}" for name, of in parts)
        return f"struct<{inside}>" if all(of for _, of in parts) else ""
    if kinds.is_map(type_):
        both = canonical_type(type_.key_type), canonical_type(type_.item_type)
        return f"map<{both[0]}, {both[1]}>" if all(both) else ""
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        of = canonical_type(type_.value_type)
        return f"array<{of}>" if of else ""
    if kinds.is_decimal(type_):
        return f"decimal({type_.precision}, {type_.scale})"
    if kinds.is_timestamp(type_):
        return "timestamp" if type_.tz else "timestamp_ntz"
    if getattr(type_, "type_name", "") == _VARIANT[0] and type_ != variant():
        return _VARIANT[0]
    return _NAMES.get(str(type_), "")


_EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone
_NANOS: Final = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_VARIANT: Final = "variant", "parquet"
"""Name and vendor of Arrow's opaque type that holds variants, each as the JSON of its value."""


def variant() -> pa.DataType:
    """Return the type of variants: texts that `variant_text` returns."""
    return pa.opaque(pa.string(), *_VARIANT)


def variant_text(value: Value) -> str:
    return json.dumps(to_json(value))


def canonical(scalar: Any) -> Value:  # noqa: ANN401 - of any of Arrow's classes
    """Return a value in canonical form.

    A text where Python has no such moment; so are a time of day and a UUID.
    """
    if not scalar.is_valid:
        return None
    type_ = scalar.type
    if kinds.is_struct(type_):
        return {part.name: canonical(scalar[at]) for at, part in enumerate(type_)}
    if kinds.is_map(type_):
        entries = scalar.values
        return MapValue.of([(canonical(entry[0]), canonical(entry[1])) for entry in entries])
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return tuple(canonical(value) for value in scalar.values)
    if kinds.is_timestamp(type_) or kinds.is_date(type_):
        return _day_or_moment(scalar)
    return _plain(scalar.as_py(), type_)


def canonical_values(column: Any) -> list[Value]:  # noqa: ANN401 - an array or several in a row
    """Return the values of a column in canonical form, as `canonical` does one by one."""
    type_ = column.type
    if kinds.is_timestamp(type_) and type_.unit == "us":
        with suppress(OverflowError, ValueError):  # Python has no such moment
            return list(column.cast(pa.timestamp("us")).to_pylist())
    as_they_are = kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_string
    if any(is_kind(type_) for is_kind in as_they_are):
        return list(column.to_pylist())
    return [canonical(value) for value in column]


def _plain(value: Value, type_: Any) -> Value:  # noqa: ANN401 - as above
    match value:
        case uuid.UUID():
            return str(value)
        case datetime.time():
            return value.isoformat("microseconds")
        case str() if getattr(type_, "type_name", "") == _VARIANT[0]:
            if type_.vendor_name == _VARIANT[1]:
                return from_json(json.loads(value))
            with suppress(ValueError):  # as a reader shows it; infinity and NaN are no JSON
                return json_text(value)
    return value


def _day_or_moment(scalar: Any) -> Value:  # noqa: ANN401 - as above
    try:
        if kinds.is_date(scalar.type):
            return scalar.as_py()
        # Not as_py, which imports pandas for a moment with a zone.
        micros, beyond = divmod(scalar.value * _NANOS[scalar.type.unit], 1_000)
        value = _EPOCH + datetime.timedelta(microseconds=micros)
    except (OverflowError, ValueError):
        return str(scalar.value)
    return moment(f"{value:%Y-%m-%d %H:%M:%S.%f}{beyond:03}") if beyond else value


def array_of(values: Iterable[Value], type_: pa.DataType) -> pa.Array:
    """Return canonical values as an array; raises ValueError or Arrow's errors.

    A map may be a dict as well.
    """
    # Arrow builds no arrays of extension types inside of others, but casts to them.
    storage = _storage(type_)
    return pa.array([_of_canonical(value, type_) for value in values], storage).cast(type_)


def _storage(type_: pa.DataType) -> pa.DataType:
    inner = with_parts(type_, lambda part: part.with_type(_storage(part.type)))
    return getattr(inner, "storage_type", inner)


def with_parts(type_: pa.DataType, change: Callable[[pa.Field], pa.Field]) -> pa.DataType:
    """Return a type with the fields changed that it is made of, and lists as plain ones."""
    if pa.types.is_struct(type_):
        return pa.struct([change(part) for part in type_])
    if pa.types.is_map(type_):
        return pa.map_(change(type_.key_field), change(type_.item_field))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(change(type_.value_field))
    return type_


def _of_canonical(value: Value, type_: pa.DataType) -> Any:  # noqa: ANN401 - for Arrow
    if value is None:
        return None
    if kinds.is_struct(type_):
        return {part.name: _of_canonical(value.get(part.name), part.type) for part in type_}
    if kinds.is_map(type_):
        types = type_.key_type, type_.item_type
        pairs = value.items() if isinstance(value, dict) else value.pairs
        return [tuple(map(_of_canonical, pair, types)) for pair in pairs]
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return [_of_canonical(part, type_.value_type) for part in value]
    return _of_text(value, type_) if isinstance(value, str) else value


def _of_text(text: str, type_: pa.DataType) -> Any:  # noqa: ANN401 - for Arrow
    """Return what stands in canonical form as a text; see `canonical`."""
    if type_ == pa.uuid():
        return uuid.UUID(text).bytes
    if pa.types.is_time(type_):
        return datetime.time.fromisoformat(text)
    if pa.types.is_timestamp(type_):
        return pa.scalar(text).cast(pa.timestamp("ns")).value
    return text
