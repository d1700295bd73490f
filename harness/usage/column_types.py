"""Columns of the catalog and of data files in the same coarse words, so that they can be compared.

A file does not tell a `tinyint` from an `int`, a `varchar` from a `string`, nor always a text from
bytes, and Hive's timestamp has many forms; none of that is a change. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

from harness.engines.hive.values import canonical_type
from harness.formats.files import avro_types
from harness.model.datatypes import (
    ELEMENT,
    KEY,
    VALUE,
    Array,
    DataType,
    Map,
    Struct,
    Text,
    parts_of,
)
from harness.usage.schema_changes import STRUCT, ColumnPart

if TYPE_CHECKING:
    import pyarrow

ANY: Final = ""
"""The type of what nobody here knows; nothing is said of its changes."""
_NESTED: Final = {Struct: STRUCT, Array: "array", Map: "map"}
_COARSE: Final = {
    "tinyint": "int",
    "smallint": "int",
    "bigint": "long",
    "binary": "string",
    "timestamp_ntz": "timestamp",
}
_ARROW: Final = {
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "long",
    "bool": "boolean",
    "halffloat": "float",
    "date32[day]": "date",
    "large_string": "string",
    "string_view": "string",
    "binary": "string",
    "large_binary": "string",
}

_AVRO: Final = {
    **{each: each for each in ("boolean", "int", "long", "float", "double", "string", "date")},
    "bytes": "string",
    **{
        f"{zone}timestamp-{unit}": "timestamp"
        for zone in ("", "local-")
        for unit in ("millis", "micros")
    },
}


def of_catalog(columns: Iterable[tuple[str, str]]) -> tuple[ColumnPart, ...]:
    """Return the columns of a catalog's entry: names and types in Hive's words."""
    return tuple(_hive(name, canonical_type(type_)) for name, type_ in columns)


def of_file(fields: Iterable[Any]) -> tuple[ColumnPart, ...]:
    """Return the columns of a file, as Arrow has them."""
    return tuple(_arrow(each.name, each.type) for each in fields)


def of_avro(fields: Iterable[dict[str, Any]]) -> tuple[ColumnPart, ...]:
    """Return the columns of an Avro file: the fields of its record.

    >>> (found,) = of_avro([{"name": "a", "type": ["null", {"type": "array", "items": "bytes"}]}])
    >>> found.type, found.parts[0].type
    ('array', 'string')
    """
    return tuple(_avro(each["name"], each["type"]) for each in fields)


def comparable(before: Sequence[ColumnPart], after: Sequence[ColumnPart]) -> tuple[ColumnPart, ...]:
    """Return `before`, with the types of `after` wherever one of both is unknown."""
    known = {each.name.lower(): each for each in after}
    return tuple(_as_known(each, known.get(each.name.lower())) for each in before)


def _as_known(part: ColumnPart, other: ColumnPart | None) -> ColumnPart:
    if other is None:
        return part
    if ANY in {part.type, other.type}:
        return ColumnPart(part.id, part.name, other.type, other.parts)
    return ColumnPart(part.id, part.name, part.type, comparable(part.parts, other.parts))


def _hive(name: str, type_: DataType | None) -> ColumnPart:
    match type_:
        case None:
            return ColumnPart(name, name, ANY)
        case Text():
            return ColumnPart(name, name, "string")
    if parts := parts_of(type_):
        return ColumnPart(name, name, _NESTED[type(type_)], tuple(starmap(_hive, parts)))
    text = str(type_)
    return ColumnPart(name, name, _COARSE.get(text, text))


def _avro(name: str, type_: Any) -> ColumnPart:  # noqa: ANN401 - Avro's JSON
    match type_:
        case ["null", inner] | [inner, "null"]:
            return _avro(name, inner)
        case {"type": "record", "fields": fields}:
            return ColumnPart(name, name, STRUCT, of_avro(fields))
        case {"type": "array", "items": items}:
            return ColumnPart(name, name, "array", (_avro(ELEMENT, items),))
        case {"type": "map", "values": values}:
            return ColumnPart(name, name, "map", (_avro(KEY, "string"), _avro(VALUE, values)))
    text = avro_types.text(type_)
    exact = text if text.startswith("decimal(") else ANY
    return ColumnPart(name, name, _AVRO.get(text, exact))


def _arrow(name: str, type_: pyarrow.DataType) -> ColumnPart:
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

    if kinds.is_struct(type_):
        return ColumnPart(name, name, STRUCT, of_file(type_))
    if kinds.is_map(type_):
        inner = (_arrow(KEY, type_.key_type), _arrow(VALUE, type_.item_type))
        return ColumnPart(name, name, "map", inner)
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return ColumnPart(name, name, "array", (_arrow(ELEMENT, type_.value_type),))
    if kinds.is_decimal(type_):
        return ColumnPart(name, name, f"decimal({type_.precision}, {type_.scale})")
    if kinds.is_timestamp(type_):
        return ColumnPart(name, name, "timestamp")
    if kinds.is_fixed_size_binary(type_):
        return ColumnPart(name, name, "string")
    text = str(type_)
    return ColumnPart(name, name, _ARROW.get(text, text))
