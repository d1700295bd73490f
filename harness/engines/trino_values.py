"""Values as the Trino family sends them in JSON, made canonical by the type the server names.

| server | Python |
| --- | --- |
| tinyint … bigint | `int` |
| double | `float` |
| real | the `float` that its shortest decimal text stands for: 503002.09375 of 503002.1 |
| decimal(p, s) | `Decimal` with s digits behind the point |
| timestamp(p) | `datetime` without zone; more than microseconds stay the server's text |
| row | `dict` by the names of the children; array `tuple`; map `MapValue` |
| varbinary | `bytes` |
| any other | the server's text |

Nothing is rounded here: what Python's type cannot hold stays the server's text. What is another
value than the one sent is declared (`harness.differences`).

Source: the client protocol of Trino ("Client REST API" of its manual) and what Trino 368 and 476,
PrestoSQL 350 and PrestoDB 0.283 were seen to send. PrestoDB describes the children of a row as
text, and once more in full under `typeArguments`. Pure.
"""

from __future__ import annotations

import base64
import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.differences import Tally
from harness.model.canonical import MapValue, Value, moment, single
from harness.record import Column

Json = Any
"""What JSON can hold."""


@dataclass(frozen=True, slots=True)
class WireType:
    """A type as the server describes it."""

    name: str
    """Without parameters: `decimal`, `row`, `timestamp with time zone` …"""
    inner: tuple[WireType, ...] = ()
    """Element of an array, key and value of a map, children of a row."""
    children: tuple[str, ...] = ()
    """Names of a row's children."""
    numbers: tuple[int, ...] = ()
    """Length, precision, scale."""

    @classmethod
    def read(cls, signature: Mapping[str, Json]) -> WireType:
        """Read the `typeSignature` of a column; raises what `rows` raises."""
        values = [argument["value"] for argument in signature["arguments"]]
        fields = [value for value in values if isinstance(value, dict) and "typeSignature" in value]
        types = [value.get("typeSignature", value) for value in values if isinstance(value, dict)]
        return cls(
            signature["rawType"],
            tuple(cls.read(each) for each in signature.get("typeArguments", types)),
            tuple(_child(at, field) for at, field in enumerate(fields)),
            tuple(value for value in values if isinstance(value, int)),
        )


def _child(at: int, field: Mapping[str, Json]) -> str:
    """Name of a row's child; one without a name is called as the server itself calls it."""
    named = field.get("fieldName")
    return str(named["name"]) if named else f"field{at}"


def columns(described: Sequence[Mapping[str, Json]], tally: Tally) -> tuple[Column, ...]:
    """Give the columns of a reply, from `columns` of the protocol."""
    return tuple(
        Column(each["name"], each["type"], canonical(WireType.read(each["typeSignature"]), tally))
        for each in described
    )


def rows(
    described: Sequence[Mapping[str, Json]], data: Sequence[Sequence[Json]], tally: Tally
) -> tuple[tuple[Value, ...], ...]:
    """Give the rows of a reply in canonical values.

    Raises:
        ArithmeticError, AttributeError, LookupError, TypeError, ValueError: a value or a type is
            not of the form that the protocol says.

    """
    types = [WireType.read(each["typeSignature"]) for each in described]
    return tuple(
        tuple(value_of(each, kind, tally) for each, kind in zip(row, types, strict=True))
        for row in data
    )


_CANONICAL: Final = {
    "boolean": "boolean",
    "tinyint": "tinyint",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "long",
    "real": "float",
    "double": "double",
    "varbinary": "binary",
    "date": "date",
}
_UNBOUNDED: Final = 2147483647
"""The length that the signature of an unbounded varchar names."""


def canonical(kind: WireType, tally: Tally) -> str:
    """Give a type in the words of `model.datatypes`; empty when they have none for it."""
    inner = [canonical(each, tally) for each in kind.inner]
    if not all(inner):
        return ""
    match kind.name:
        case "varchar":
            unbounded = kind.numbers in {(), (_UNBOUNDED,)}
            return "string" if unbounded else f"varchar({kind.numbers[0]})"
        case "char":
            return f"char({kind.numbers[0]})"
        case "timestamp" if kind.numbers:
            told = f"timestamp({kind.numbers[0]})"
            normal = tally.take("timestamp-digits", "timestamp", told, "timestamp")
            return "timestamp" if normal == "timestamp" else ""
        case "timestamp":
            return "timestamp"
        case "decimal":
            return "decimal({}, {})".format(*kind.numbers)
        case "array" | "map":
            return f"{kind.name}<{', '.join(inner)}>"
        case "row":
            children = zip(kind.children, inner, strict=True)
            return f"struct<{', '.join(f'{name}: {child}' for name, child in children)}>"
    return _CANONICAL.get(kind.name, "")


def value_of(value: Json, kind: WireType, tally: Tally) -> Value:
    """Give the canonical value of one JSON value; raises what `rows` raises."""
    if value is None:
        return None
    match kind.name:
        case "row":
            pairs = zip(kind.children, _listed(value), kind.inner, strict=True)
            return {name: value_of(each, child, tally) for name, each, child in pairs}
        case "array":
            return tuple(value_of(each, kind.inner[0], tally) for each in _listed(value))
        case "map":
            key, inner = kind.inner
            sent = value.items()
            return MapValue.of([(_key(k, key, tally), value_of(v, inner, tally)) for k, v in sent])
        case "real":
            number = float(value)
            return tally.take("float-text", "float", number, single(number))
    read = _READ.get(kind.name)
    return read(value) if read else value


def _listed(value: Json) -> list[Json]:
    """Give a list; a text is refused, because its letters would pass for values."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def _key(text: str, kind: WireType, tally: Tally) -> Value:
    """Give the key of a map: JSON has it as text, whatever its type."""
    match kind.name:
        case "boolean":
            return {"true": True, "false": False}[text]
        case "varbinary":
            # Trino's own print of the bytes, PrestoDB's base64; nothing tells them apart.
            return text
    return text if kind.inner else value_of(text, kind, tally)


def _date(text: str) -> Value:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:  # a year outside 1 to 9999
        return text


_READ: Final[Mapping[str, Callable[[Json], Value]]] = {
    "tinyint": int,
    "smallint": int,
    "integer": int,
    "bigint": int,
    # JSON has no infinities and no NaN, so they come as text, which `float` reads as well.
    "double": float,
    "decimal": decimal.Decimal,
    "date": _date,
    "timestamp": moment,
    "varbinary": base64.b64decode,
}
