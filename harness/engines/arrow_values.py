"""Arrow's types and values in canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from harness.model.canonical import MapValue, Value, moment
from harness.model.datatypes import DataType, Decimal, PlainType, Text, fold

if TYPE_CHECKING:
    import pyarrow

_ARROW: Final = {
    "boolean": "bool",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "long": "int64",
    "date": "date32[day]",
    "timestamp_ntz": "timestamp[us]",
}
_NAMES: Final = {
    **{name: ours for ours, name in _ARROW.items()},
    **{name: name for name in ("float", "double", "string", "binary")},
    **dict.fromkeys(("large_string", "string_view"), "string"),
    **dict.fromkeys(("large_binary", "binary_view"), "binary"),
}


def arrow_type(kind: DataType) -> pyarrow.DataType:
    """Return Arrow's type for one of ours in a Hive table; its timestamps are counted in UTC."""
    import pyarrow as pa  # noqa: PLC0415 - only asking needs it

    def plain(kind: PlainType) -> pyarrow.DataType:
        match kind:
            case Decimal(precision, scale):
                return pa.decimal128(precision, scale)
            case Text():
                return pa.string()
        if str(kind) == "timestamp":
            return pa.timestamp("us", "UTC")
        return pa.type_for_alias(_ARROW.get(str(kind), str(kind)))

    return fold(kind, plain, pa.struct, pa.list_, pa.map_)


def canonical_type(type_: pyarrow.DataType) -> str:
    """Return our text of a type; empty when there is none of ours."""
    import pyarrow.types as kinds  # noqa: PLC0415 - only asking needs it

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
    return _NAMES.get(str(type_), "")


def canonical(scalar: Any) -> Value:  # noqa: ANN401 - of any of Arrow's classes
    """Return a value in canonical form; a text where Python has no such moment."""
    import pyarrow.types as kinds  # noqa: PLC0415 - only asking needs it

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
    return scalar.as_py()


def _day_or_moment(scalar: Any) -> Value:  # noqa: ANN401 - as above
    try:
        value = scalar.as_py()
    except (OverflowError, ValueError):
        return str(scalar.value)
    if getattr(value, "nanosecond", 0):  # pandas' own kind
        return moment(str(value))
    plain = value.to_pydatetime() if hasattr(value, "nanosecond") else value
    return plain.replace(tzinfo=None) if hasattr(plain, "tzinfo") else plain
