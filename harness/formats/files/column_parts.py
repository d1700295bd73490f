"""Columns as some record of a table has them, with their ids and parts; and in coarse types.

A file does not tell a `tinyint` from an `int`, a `varchar` from a `string`, nor always a text from
bytes: none of that is a change in coarse types. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.core.arrow import kinds, pa
from harness.engines.hive.values import canonical_type
from harness.model.datatypes import ELEMENT, KEY, VALUE, Array, DataType, Map, Struct, Text
from harness.model.datatypes import parts_of as parts_of_type

STRUCT: Final = "struct"
ARRAY: Final = "array"
MAP: Final = "map"
FIELD_ID: Final = b"field_id"
"""In the metadata of an Arrow field: its id in its file, as decimal digits, where it has one."""
UNKNOWN: Final = ""
"""The type of what nobody here knows; nothing is said of its changes."""
_KINDS: Final[Mapping[type[DataType], str]] = {
    Struct: STRUCT,
    Array: ARRAY,
    Map: MAP,
    Text: "string",
}
_COARSE: Final = {
    "tinyint": "int",
    "smallint": "int",
    "bigint": "long",
    "binary": "string",
    "timestamp_ntz": "timestamp",
}
"""Of our names of types."""
_ARROW: Final = {
    **dict.fromkeys(("int8", "int16", "int32"), "int"),
    "int64": "long",
    "bool": "boolean",
    "halffloat": "float",
    "date32[day]": "date",
    **dict.fromkeys(("large_string", "string_view", "binary", "large_binary"), "string"),
}


@dataclass(frozen=True, slots=True)
class ColumnPart:
    id: int | str
    """What it is known by: a number, or its name where it has none."""
    name: str
    type: str
    """In the words of its record; of one with parts only `struct`, `array` or `map`."""
    parts: tuple[ColumnPart, ...] = ()


def parts_of(fields: Sequence[Mapping[str, Any]]) -> tuple[ColumnPart, ...]:
    """Return the columns of a struct; raises KeyError or TypeError.

    Source: `SerDeHelper` of Hudi; Iceberg specification, "Appendix C: JSON serialization".
    """
    return tuple(part_of(field["name"], field["id"], field["type"]) for field in fields)


def part_of(name: str, number: int | str, type_: Any) -> ColumnPart:  # noqa: ANN401 - JSON
    match type_:
        case {"fields": fields}:
            return ColumnPart(number, name, STRUCT, parts_of(fields))
        case {"element": element}:
            return ColumnPart(number, name, ARRAY, (_inner(ELEMENT, type_, element),))
        case {"key": key, "value": value}:
            parts = (_inner(KEY, type_, key), _inner(VALUE, type_, value))
            return ColumnPart(number, name, MAP, parts)
        case str():
            return ColumnPart(number, name, type_)
    raise TypeError(f"{type_!r} is no type")


def _inner(name: str, holder: Mapping[str, Any], type_: Any) -> ColumnPart:  # noqa: ANN401
    return part_of(name, holder.get(f"{name}-id", holder.get(f"{name}_id", name)), type_)


def walk(parts: Iterable[ColumnPart], above: str = "") -> Iterator[tuple[str, ColumnPart]]:
    """Yield every part with its dotted path, each before its own parts."""
    for part in parts:
        path = above + in_path(part.name)
        yield path, part
        yield from walk(part.parts, f"{path}.")


def in_path(name: str) -> str:
    """Return a name as it stands in a dotted path: what `a.b` is is a part of `a`, or a column.

    >>> in_path("a"), in_path("a.b")
    ('a', '`a.b`')
    """
    return f"`{name}`" if "." in name else name


def leaves(parts: Iterable[ColumnPart], above: str = "") -> Iterator[tuple[str, ColumnPart]]:
    """Yield the columns, and parts of structs, that have no parts themselves, by dotted path."""
    for part in parts:
        if part.type == STRUCT:
            yield from leaves(part.parts, f"{above}{part.name}.")
        elif not part.parts:
            yield above + part.name, part


def by_name(parts: Iterable[ColumnPart], case: Callable[[str], str]) -> tuple[ColumnPart, ...]:
    """Return parts that are known by their names, as `case` writes them."""
    return tuple(
        ColumnPart(case(p.name), case(p.name), p.type, by_name(p.parts, case)) for p in parts
    )


def of_catalog(columns: Iterable[tuple[str, str]]) -> tuple[ColumnPart, ...]:
    """Return the columns of a catalog's entry: names and types in Hive's words."""
    return tuple(_hive(name, canonical_type(type_)) for name, type_ in columns)


def _hive(name: str, type_: DataType | None) -> ColumnPart:
    if type_ is None:
        return ColumnPart(name, name, UNKNOWN)
    parts = tuple(_hive(part, inner) for part, inner in parts_of_type(type_))
    text = str(type_)
    return ColumnPart(name, name, _KINDS.get(type(type_)) or _COARSE.get(text, text), parts)


def of_arrow(fields: Iterable[pa.Field]) -> tuple[ColumnPart, ...]:
    return tuple(_arrow(field.name, field.type) for field in fields)


def _arrow(name: str, type_: pa.DataType) -> ColumnPart:
    if kinds.is_struct(type_):
        return ColumnPart(name, name, STRUCT, of_arrow(type_))
    if kinds.is_map(type_):
        parts = (_arrow(KEY, type_.key_type), _arrow(VALUE, type_.item_type))
        return ColumnPart(name, name, MAP, parts)
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return ColumnPart(name, name, ARRAY, (_arrow(ELEMENT, type_.value_type),))
    if kinds.is_decimal(type_):
        return ColumnPart(name, name, f"decimal({type_.precision}, {type_.scale})")
    if kinds.is_timestamp(type_):
        return ColumnPart(name, name, "timestamp")
    if kinds.is_fixed_size_binary(type_):
        return ColumnPart(name, name, "string")
    text = str(type_)
    return ColumnPart(name, name, _ARROW.get(text, text))


def comparable(before: Sequence[ColumnPart], after: Sequence[ColumnPart]) -> tuple[ColumnPart, ...]:
    """Return `before`, with the types of `after` wherever one of both is unknown."""
    known = {part.name.lower(): part for part in after}
    return tuple(_as_known(part, known.get(part.name.lower())) for part in before)


def _as_known(part: ColumnPart, other: ColumnPart | None) -> ColumnPart:
    if other is None:
        return part
    if UNKNOWN in {part.type, other.type}:
        return ColumnPart(part.id, part.name, other.type, other.parts)
    return ColumnPart(part.id, part.name, part.type, comparable(part.parts, other.parts))


def without(
    columns: Sequence[ColumnPart], names: Iterable[str], prefix: str = ""
) -> tuple[ColumnPart, ...]:
    """Return columns but for some, and for those that begin with what a format adds."""
    left_out = {name.lower() for name in names}
    return tuple(
        column
        for column in columns
        if column.name.lower() not in left_out and not (prefix and column.name.startswith(prefix))
    )
