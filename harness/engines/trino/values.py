"""Values as the Trino family sends them in JSON, made canonical by the type the server names.

| server | Python |
| --- | --- |
| tinyint … bigint | `int` |
| double | `float` |
| real | the `float` that its shortest decimal text stands for: 503002.09375 of 503002.1 |
| decimal(p, s) | `Decimal` with s digits behind the point |
| timestamp(p) | `datetime` without zone; more than microseconds stay the server's text |
| timestamp(p) with time zone | the same, of a text that ends with UTC, where that is declared |
| row | `dict` by the names of the children; array `tuple`; map `MapValue` |
| varbinary | `bytes` |
| any other | the server's text |

Nothing is rounded here: what Python's type cannot hold, or is not of the form that its type
promises, stays as the server sent it, so that it shows. What is another value than the one sent is
declared (`harness.core.tolerances`).

Source: the client protocol of Trino ("Client REST API" of its manual) and what Trino 368 and 476,
PrestoSQL 350, PrestoDB 0.283 and 0.287 were seen to send. PrestoDB describes the children of a row
as text, and once more in full under `typeArguments`; 0.287 sends each value with parts as a text of
JSON, and those inside it as texts in that text. Pure.
"""

from __future__ import annotations

import base64
import decimal
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.core.records import Column
from harness.core.tolerances import Tally
from harness.engines.java_floats import number_of
from harness.engines.query_sql import checked
from harness.model.canonical import MapValue, Value, day, moment

IN_UTC: Final = {"timestamp-in-utc": (3,), "timestamptz-in-utc": (6,)}
"""Declarations of timestamps with a time zone, and how many digits each is about."""
WireValue = Any
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
    def read(cls, signature: Mapping[str, WireValue]) -> WireType:
        """Read the `typeSignature` of a column; raises what `rows` raises."""
        values = [argument["value"] for argument in signature["arguments"]]
        fields = [value for value in values if isinstance(value, dict) and "typeSignature" in value]
        types = [value.get("typeSignature", value) for value in values if isinstance(value, dict)]
        return cls(
            signature["rawType"],
            tuple(cls.read(part) for part in signature.get("typeArguments", types)),
            tuple(_child(at, field) for at, field in enumerate(fields)),
            tuple(value for value in values if isinstance(value, int)),
        )


def _child(at: int, field: Mapping[str, WireValue]) -> str:
    """Return the name of a row's child; one without a name is called as the server calls it."""
    named = field.get("fieldName")
    return str(named["name"]) if named else f"field{at}"


def columns(described: Sequence[Mapping[str, WireValue]], tally: Tally) -> tuple[Column, ...]:
    return tuple(
        Column(
            column["name"], column["type"], canonical(WireType.read(column["typeSignature"]), tally)
        )
        for column in described
    )


def rows(
    described: Sequence[Mapping[str, WireValue]], data: Sequence[Sequence[WireValue]], tally: Tally
) -> tuple[tuple[Value, ...], ...]:
    """Return the rows of a reply in canonical values.

    Raises ArithmeticError, AttributeError, LookupError, TypeError, ValueError: not of the protocol.
    """
    types = [WireType.read(column["typeSignature"]) for column in described]
    return tuple(
        tuple(value_of(value, kind, tally) for value, kind in zip(row, types, strict=True))
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
_WITH_PARTS: Final = ("row", "array", "map")
_UNBOUNDED: Final = 2147483647
"""The length that the signature of an unbounded varchar names."""


def canonical(kind: WireType, tally: Tally) -> str:
    """Return a type in the words of `model.datatypes`; empty when they have none for it."""
    inner = [canonical(wire_type, tally) for wire_type in kind.inner]
    if not all(inner):
        return ""
    match kind.name:
        case "varchar":
            unbounded = kind.numbers in {(), (_UNBOUNDED,)}
            return "string" if unbounded else f"varchar({kind.numbers[0]})"
        case "char":
            return f"char({kind.numbers[0]})"
        case "timestamp" if kind.numbers:
            written = f"timestamp({kind.numbers[0]})"
            normal = tally.normalise("timestamp-digits", "timestamp", written, "timestamp")
            return "timestamp" if normal == "timestamp" else ""
        case "timestamp":
            return "timestamp"
        case "timestamp with time zone":
            written = f"timestamp({', '.join(map(str, kind.numbers))}) with time zone"
            normal = tally.normalise(_in_utc(kind, tally), "timestamp", written, "timestamp")
            return "timestamp" if normal == "timestamp" else ""
        case "decimal":
            return "decimal({}, {})".format(*kind.numbers)
        case "array" | "map":
            return f"{kind.name}<{', '.join(inner)}>"
        case "row":
            children = zip(kind.children, inner, strict=True)
            return f"struct<{', '.join(f'{name}: {child}' for name, child in children)}>"
    return _CANONICAL.get(kind.name, "")


def value_of(value: WireValue, kind: WireType, tally: Tally) -> Value:
    """Return the canonical value of one JSON value; raises what `rows` raises."""
    if value is None:
        return None
    if isinstance(value, str) and kind.name in _WITH_PARTS:
        value = json.loads(value, object_pairs_hook=entries)
    match kind.name:
        case "row":
            pairs = zip(kind.children, _listed(value), kind.inner, strict=True)
            return {name: value_of(part, child, tally) for name, part, child in pairs}
        case "array":
            return tuple(value_of(part, kind.inner[0], tally) for part in _listed(value))
        case "map":
            key, inner = kind.inner
            # A list where a key stands twice (`entries`).
            sent = value.items() if isinstance(value, dict) else map(_listed, _listed(value))
            return MapValue.of([(_key(k, key, tally), value_of(v, inner, tally)) for k, v in sent])
    if isinstance(value, list | dict):
        raise TypeError(f"{value!r} is not a {kind.name}")
    return _leaf(value, kind, tally)


def entries(pairs: list[tuple[str, WireValue]]) -> WireValue:
    """Return the entries of a JSON object; a list of pairs where a key stands twice, as in a map.

    >>> entries([("a", 1)]), entries([("a", 1), ("a", 2)])
    ({'a': 1}, [['a', 1], ['a', 2]])
    """
    alone = dict(pairs)
    return alone if len(alone) == len(pairs) else list(map(list, pairs))


def _in_utc(kind: WireType, tally: Tally) -> str:
    """Return the declaration that is about a type with a time zone; empty where none is."""
    about = (name for name, digits in IN_UTC.items() if digits == kind.numbers)
    return next((name for name in about if tally.covers(name, "timestamp")), "")


def _leaf(value: WireValue, kind: WireType, tally: Tally) -> Value:
    """Return canonical form of a value without parts; what is not of its type's form as it is."""
    name = kind.name
    try:
        if name == "real":
            exact = _number(value, "float")
            return tally.normalise("float-text", "float", float(value), exact)
        if name == "timestamp with time zone" and _in_utc(kind, tally):
            text, _, zone = value.rpartition(" ")
            return moment(text) if zone == "UTC" else value
        read = _READ.get(name)
        return read(value) if read else value
    except (ArithmeticError, TypeError, ValueError):
        return value


def _listed(value: WireValue) -> list[WireValue]:
    if not isinstance(value, list):  # the letters of a text would pass for values
        raise TypeError(f"{value!r} is no list")
    return value


def _key(text: str, kind: WireType, tally: Tally) -> Value:
    """Return the key of a map: JSON has it as text, whatever its type."""
    # Of bytes it is Trino's own print or PrestoDB's base64, and nothing tells them apart; of keys
    # with parts it is a text too. No scenario has such keys.
    if kind.inner or kind.name == "varbinary":
        return text
    form = _KEYS.get(kind.name)
    bare = form is not None and form.fullmatch(text) is not None
    return value_of(json.loads(text) if bare else text, kind, tally)


_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]*")
_PLAIN: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_FLOATING: Final = re.compile(rf"{_PLAIN.pattern}(?:E-?[0-9]+)?")
_WHOLES: Final = ("tinyint", "smallint", "integer", "bigint")
_KEYS: Final[Mapping[str, re.Pattern[str]]] = {
    "boolean": re.compile("true|false"),
    **dict.fromkeys(_WHOLES, _WHOLE),
    **dict.fromkeys(("real", "double"), _FLOATING),
}
"""Types that are no texts in JSON but where they are keys, with the texts of their values there."""
_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")
"""JSON has none of them, so they come as text."""


def _number(value: WireValue, kind: str) -> float:
    if isinstance(value, str) and value in _NO_NUMBERS:
        return float(value)
    return number_of(checked(value, int | float), kind)


def _decimal(value: WireValue) -> decimal.Decimal:
    if not _PLAIN.fullmatch(value):
        raise ValueError(f"{value!r} is not how a decimal is sent")
    return decimal.Decimal(value)


def _bytes(value: WireValue) -> bytes:
    decoded = base64.b64decode(value, validate=True)
    if base64.b64encode(decoded).decode() != value:
        raise ValueError(f"{value!r} is no base64")
    return decoded


_READ: Final[Mapping[str, Callable[[WireValue], Value]]] = {
    **dict.fromkeys(_WHOLES, lambda value: checked(value, int)),
    "double": lambda value: _number(value, "double"),
    "decimal": _decimal,
    "date": day,
    "timestamp": moment,
    "varbinary": _bytes,
}
