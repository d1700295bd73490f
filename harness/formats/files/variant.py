"""Variants out of the columns that hold them: each value with the name of its physical type.

Source: Parquet, "Variant Binary Encoding" and "Variant Shredding".
"""

from __future__ import annotations

import datetime
import json
import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from harness.core.arrow import kinds, pa
from harness.engines.arrow_values import canonical, variant, variant_text
from harness.model.canonical import Value, json_text, moment, text_of

METADATA: Final = "metadata"
VALUE: Final = "value"
TYPED: Final = "typed_value"
TYPE_KEY: Final = "t"
VALUE_KEY: Final = "v"
"""The two parts of a decoded value."""
UUID: Final = "uuid"
_DAY: Final = datetime.date(1970, 1, 1)
_MOMENT: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone


class _Absent:
    """What a shredded object does not have."""


def decoded(values: pa.StructArray) -> pa.ExtensionArray:
    """Return a column of variants; raises ValueError where the bytes are none."""
    texts = [None if row is None else variant_text(row) for row in map(_row, values)]
    return pa.ExtensionArray.from_storage(variant(), pa.array(texts, pa.string()))


def is_variant(type_: pa.DataType) -> bool:
    """Return whether a group of columns holds variants, by the names of its parts."""
    names = {part.name for part in type_} if kinds.is_struct(type_) else set[str]()
    return METADATA in names <= {METADATA, VALUE, TYPED} and kinds.is_binary(
        type_.field(METADATA).type
    )


def json_texts(values: pa.StructArray) -> list[str | None]:
    """Return variants as JSON, see `json_of`; raises ValueError where the bytes are none."""
    return [json_of(row) for row in map(_row, values)]


def json_of(value: Value) -> str | None:
    """Return a decoded value as JSON, of which the names of types are no part.

    Infinity and NaN, for which it has no numbers, stand in it as they are called.
    """
    text = None if value is None else _json(value)
    with suppress(ValueError):
        return text and json_text(text)
    return text


def _json(value: Mapping[str, Value]) -> str:
    match value[VALUE_KEY]:
        case dict() as parts:
            return f"{{{','.join(f'{json.dumps(n)}:{_json(part)}' for n, part in parts.items())}}}"
        case tuple() as elements:
            return f"[{','.join(map(_json, elements))}]"
        case None | bool() | str() as plain:
            return json.dumps(plain)
        case int() | float() | Decimal() as number:
            return text_of(number)
        case other:
            return json.dumps(text_of(other))


def _row(group: pa.StructScalar) -> Value:
    if not group.is_valid:
        return None
    try:
        names = _names(group[METADATA].as_py())
        value = _shredded(group, names)
    except (struct.error, IndexError, TypeError, KeyError, OverflowError) as problem:
        raise ValueError(f"it holds no variant: {problem}") from problem
    # A top-level value that is in neither column is invalid; readers must take it for null.
    return _of("null", None) if isinstance(value, _Absent) else value


def _of(type_: str, value: Value) -> dict[str, Value]:
    return {TYPE_KEY: type_, VALUE_KEY: value}


def _number(content: bytes, at: int, size: int) -> int:
    if at + size > len(content):
        raise IndexError("it is too short")
    return int.from_bytes(content[at : at + size], "little")


def _names(metadata: bytes) -> Sequence[str]:
    """Return the names that fields of objects have by number ("Metadata encoding")."""
    header = metadata[0]
    if header & 0x0F != 1:
        raise ValueError(f"version {header & 0x0F} of variants is not known; allowed: 1")
    size = (header >> 6) + 1
    count = _number(metadata, 1, size)
    ends = [_number(metadata, 1 + size * (at + 1), size) for at in range(count + 1)]
    texts = metadata[1 + size * (count + 2) :]
    return [texts[ends[at] : ends[at + 1]].decode() for at in range(count)]


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A value at a place in bytes ("Value encoding")."""

    content: bytes
    at: int
    names: Sequence[str]

    def value(self) -> Value:
        kind, header = self.content[self.at] & 0b11, self.content[self.at] >> 2
        match kind:
            case 1:  # _SHORT_STRING
                return _of("string", self._bytes(self.at + 1, header).decode())
            case 2:  # _OBJECT
                return _of("object", self._object(header))
            case 3:  # _ARRAY
                return _of("array", self._array(header))
        if header not in _PRIMITIVES:
            raise ValueError(f"primitive type {header} of variants is not known")
        name, read = _PRIMITIVES[header]
        return _of(name, read(self))

    def _bytes(self, at: int, size: int) -> bytes:
        if at + size > len(self.content):
            raise IndexError("it is too short")
        return self.content[at : at + size]

    def _object(self, header: int) -> Value:
        offset_size, id_size = (header & 0b11) + 1, (header >> 2 & 0b11) + 1
        count_size = 4 if header >> 4 & 1 else 1
        count = _number(self.content, self.at + 1, count_size)
        ids = self.at + 1 + count_size
        offsets = ids + count * id_size
        values = offsets + (count + 1) * offset_size
        fields = {
            self.names[_number(self.content, ids + n * id_size, id_size)]: self._at(
                values + _number(self.content, offsets + n * offset_size, offset_size)
            )
            for n in range(count)
        }
        return dict(sorted(fields.items()))

    def _array(self, header: int) -> Value:
        offset_size = (header & 0b11) + 1
        count_size = 4 if header >> 2 & 1 else 1
        count = _number(self.content, self.at + 1, count_size)
        offsets = self.at + 1 + count_size
        values = offsets + (count + 1) * offset_size
        places = (
            _number(self.content, offsets + n * offset_size, offset_size) for n in range(count)
        )
        return tuple(self._at(values + place) for place in places)

    def _at(self, at: int) -> Value:
        return _Encoded(self.content, at, self.names).value()

    def unpacked(self, form: str) -> Any:  # noqa: ANN401 - a number
        return struct.unpack_from(f"<{form}", self.content, self.at + 1)[0]

    def decimal(self, size: int) -> Decimal:
        scale = self.content[self.at + 1]
        unscaled = int.from_bytes(self._bytes(self.at + 2, size), "little", signed=True)
        return Decimal(f"{unscaled}e-{scale}")

    def stored(self) -> bytes:
        return self._bytes(self.at + 5, _number(self.content, self.at + 1, 4))

    def micros(self) -> Value:
        return _moment(self.unpacked("q") * 1_000)

    def nanos(self) -> Value:
        return _moment(self.unpacked("q"))

    def time(self) -> str:
        seconds, micros = divmod(self.unpacked("q"), 1_000_000)
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"


def _moment(nanos: int) -> Value:
    micros, beyond = divmod(nanos, 1_000)
    value = _MOMENT + datetime.timedelta(microseconds=micros)
    return moment(f"{value.isoformat(' ', 'microseconds')}{beyond:03}") if beyond else value


_PRIMITIVES: Final[Mapping[int, tuple[str, Callable[[_Encoded], Value]]]] = {
    0: ("null", lambda _: None),
    1: ("boolean", lambda _: True),
    2: ("boolean", lambda _: False),
    3: ("int8", lambda v: v.unpacked("b")),
    4: ("int16", lambda v: v.unpacked("h")),
    5: ("int32", lambda v: v.unpacked("i")),
    6: ("int64", lambda v: v.unpacked("q")),
    7: ("double", lambda v: v.unpacked("d")),
    8: ("decimal4", lambda v: v.decimal(4)),
    9: ("decimal8", lambda v: v.decimal(8)),
    10: ("decimal16", lambda v: v.decimal(16)),
    11: ("date", lambda v: _DAY + datetime.timedelta(days=v.unpacked("i"))),
    12: ("timestamptz", _Encoded.micros),
    13: ("timestamp", _Encoded.micros),
    14: ("float", lambda v: v.unpacked("f")),
    15: ("binary", _Encoded.stored),
    16: ("string", lambda v: v.stored().decode()),
    17: ("time", _Encoded.time),
    18: ("timestamptz_ns", _Encoded.nanos),
    19: ("timestamp_ns", _Encoded.nanos),
    20: (UUID, lambda v: str(uuid.UUID(bytes=v.content[v.at + 1 : v.at + 17]))),
}


def _part(group: pa.StructScalar, name: str) -> Any:  # noqa: ANN401 - Arrow's scalar, or None
    names = [field.name for field in group.type]
    part = group[name] if name in names else None
    return part if part is not None and part.is_valid else None


def _shredded(group: pa.StructScalar, names: Sequence[str]) -> Value | _Absent:
    """Return a value out of the columns over which it is spread ("Variant Shredding")."""
    stored, typed = _part(group, VALUE), _part(group, TYPED)
    rest = None if stored is None else _Encoded(stored.as_py(), 0, names).value()
    if typed is None:
        return _Absent() if rest is None else rest
    if kinds.is_struct(typed.type):
        parts = {field.name: _shredded(typed[field.name], names) for field in typed.type}
        there = {name: part for name, part in parts.items() if not isinstance(part, _Absent)}
        return _of(
            "object", dict(sorted({**(rest or {VALUE_KEY: {}})[VALUE_KEY], **there}.items()))
        )
    if kinds.is_list(typed.type) or kinds.is_large_list(typed.type):
        return _of("array", tuple(_shredded(element, names) for element in typed.values))
    name, value = _typed_name(typed.type), canonical(typed)
    return _of(
        name, str(uuid.UUID(bytes=value)) if isinstance(value, bytes) and name == UUID else value
    )


def _typed_name(type_: pa.DataType) -> str:
    """Return what the encoding calls a type of a shredded column ("Shredded Value Types")."""
    if kinds.is_decimal(type_):
        sizes = {9: "decimal4", 18: "decimal8"}
        return next((name for most, name in sizes.items() if type_.precision <= most), "decimal16")
    if kinds.is_timestamp(type_):
        zone = "tz" if type_.tz else ""
        return f"timestamp{zone}{'_ns' if type_.unit == 'ns' else ''}"
    return _ARROW.get(str(type_), str(type_))


_ARROW: Final = {
    "bool": "boolean",
    "date32[day]": "date",
    "time64[us]": "time",
    "fixed_size_binary[16]": UUID,
    "extension<arrow.uuid>": UUID,
}
