"""Hive's types and values, made canonical. Pure.

HiveServer2 sends nested values as JSON text that is not quite JSON: keys of maps that are no
strings stand bare (`{1:"z"}`), decimals lose their last zeros, dates and timestamps are texts.
"""

import decimal
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.core.tolerances import Declared, Tally
from harness.engines.java_floats import number_of
from harness.engines.query_sql import checked
from harness.model.canonical import MapValue, Value, day, moment
from harness.model.datatypes import (
    Array,
    DataType,
    Decimal,
    Map,
    Primitive,
    Struct,
    Text,
    TypeTextError,
    parse_type,
)

FETCH: Final = "fetch"
MAP_REDUCE: Final = "mapreduce"
TEZ: Final = "tez"


@dataclass(frozen=True, slots=True)
class Job:
    """A task of a query that reads its tables."""

    name: str
    """What Hive calls it: `TEZ`, or `MAPRED`."""
    id: str
    """By which the log names it; empty for Tez."""

    @property
    def by_tez(self) -> bool:
        return self.name == "TEZ"


def jobs(tasks: str | None) -> tuple[Job, ...]:
    """Return the jobs among the tasks of a query, from its status in JSON.

    Those of Tez are of the type MAPRED too (`TezTask.getType`).
    """
    reads = (task for task in json.loads(tasks or "[]") if task.get("taskType") == "MAPRED")
    return tuple(Job(task.get("name") or "", task.get("externalHandle") or "") for task in reads)


def path_taken(ran: Sequence[Job]) -> str:
    if not ran:
        return FETCH
    return TEZ if any(job.by_tez for job in ran) else MAP_REDUCE


_DECIMAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_ZONE: Final = re.compile(r" (UTC|Z)$")
_STRING_OR_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|([^\s{}\[\],:"]+)(?=\s*:)', re.DOTALL)

Convert = Callable[[Any], Value]


@dataclass(frozen=True, slots=True)
class HiveResult:
    """Rows as the server sends them: decimals, dates, timestamps and nested values are texts."""

    columns: tuple[tuple[str, str], ...] = ()
    """Name as the server gives it, and type; nested types only by name (`struct`)."""
    rows: tuple[tuple[Any, ...], ...] = ()
    path: str = FETCH
    """What the tasks of this very query say: `fetch` (none ran), `mapreduce` or `tez`."""


IN_UTC: Final = "timestamptz-in-utc"
"""The declaration of timestamps with a time zone."""
LOCAL: Final = "timestamplocaltz"
"""What results call `timestamp with local time zone` (TIMESTAMPLOCALTZ_TYPE)."""


def canonical_type(text: str, declared: Declared | None = None) -> DataType | None:
    """Return our type for Hive's text of one, None where we have none."""
    ours = {"bigint": "long"} | ({LOCAL: "timestamp"} if IN_UTC in (declared or {}) else {})
    try:
        return parse_type(text.replace("timestamp with local time zone", LOCAL), ours)
    except TypeTextError:
        return None


def canonical(value: Any, kind: DataType | None, tally: Tally) -> Value:  # noqa: ANN401
    """Return a value in canonical form; what is not of the form of its type stays as it came."""
    if value is None or kind is None:
        return value
    try:
        if isinstance(kind, Struct | Array | Map):
            normal = _convert(kind, tally)(parse_nested(value))
            return tally.normalise("nested-text", type(kind).__name__.lower(), value, normal)
        return _convert(kind, tally)(_sent(value, kind))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return value


def _sent(value: Any, kind: DataType) -> Any:  # noqa: ANN401
    """Return the number of a decimal, which comes as a text unless it is a part of a value."""
    if not (isinstance(kind, Decimal) and isinstance(value, str)):
        return value
    if not _DECIMAL.fullmatch(value):
        raise ValueError(f"{value!r} is not how Hive writes a decimal")
    return decimal.Decimal(value)


def children(text: str) -> dict[str, str]:
    """Return the children of a struct in Hive's text of its type, each with the text of its own."""
    if not (text.startswith("struct<") and text.endswith(">")):
        return {}
    parts, depth = [""], 0
    for letter in text[len("struct<") : -1]:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return {name: kind for name, _, kind in (part.partition(":") for part in parts)}


class ObjectFields(tuple[tuple[str, Any], ...]):
    """The pairs of a JSON object, in order; told apart from an array."""

    __slots__ = ()


def parse_nested(text: str) -> Any:  # noqa: ANN401 - JSON is of any type
    """Read the text of a nested value: objects as `ObjectFields`, numbers with a point as Decimal.

    Raises ValueError: it is no such text.
    """
    quoted = _STRING_OR_KEY.sub(lambda match: f'"{match[1]}"' if match[1] else match[0], text)
    return json.loads(
        quoted, object_pairs_hook=ObjectFields, parse_float=decimal.Decimal, strict=False
    )


def _convert(kind: DataType, tally: Tally) -> Convert:
    match kind:
        case Primitive("float"):
            return lambda value: _single(value, tally)
        case Primitive("timestamp") if tally.covers(IN_UTC, "timestamp"):
            return lambda value: moment(_ZONE.sub("", checked(value, str)))
        case Primitive(name):
            return _PRIMITIVES[name]
        case Text():
            return _PRIMITIVES["string"]
        case Decimal(_, scale):
            return lambda value: _scaled(value, scale, tally)
        case Array(element):
            inner = _optional(element, tally)
            return lambda value: tuple(map(inner, checked(value, list)))
        case Map(key, element):
            read, inner = _key(key, tally), _optional(element, tally)
            return lambda value: MapValue.of(
                [(read(name), inner(part)) for name, part in checked(value, ObjectFields)]
            )
        case Struct(fields):
            return lambda value: _struct(value, fields, tally)


def _optional(kind: DataType, tally: Tally) -> Convert:
    convert = _convert(kind, tally)
    return lambda value: None if value is None else convert(value)


def _key(kind: DataType, tally: Tally) -> Convert:
    """Read a map's key, a text whatever it is: bare are numbers and booleans, as elsewhere."""
    convert = _convert(kind, tally)
    bare = isinstance(kind, Decimal) or str(kind) in _BARE
    return lambda text: convert(json.loads(text, parse_float=decimal.Decimal) if bare else text)


def _struct(
    value: Any,  # noqa: ANN401
    fields: tuple[tuple[str, DataType], ...],
    tally: Tally,
) -> dict[str, Value]:
    pairs_sent = checked(value, ObjectFields)
    if [name for name, _ in pairs_sent] != [name for name, _ in fields]:
        raise ValueError(f"{pairs_sent} has other children than {fields}")
    pairs = zip(fields, pairs_sent, strict=True)
    return {name: _optional(kind, tally)(inner) for (name, kind), (_, inner) in pairs}


def _scaled(value: Any, scale: int, tally: Tally) -> Value:  # noqa: ANN401
    """Return digits that the type has; never fewer than the value has: zeros count as others."""
    exact = decimal.Decimal(checked(value, int | decimal.Decimal))
    last = decimal.Decimal(1).scaleb(-scale)
    scaled = exact.quantize(last, context=_EXACT)
    if scaled == exact and _places(exact) > scale:
        raise ValueError(f"{exact} has more digits than its type")
    return tally.normalise("decimal-zeros", "decimal", exact, scaled) if scaled == exact else exact


def _places(number: decimal.Decimal) -> int:
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent > 0:
        raise ValueError(f"{number} is not how Hive writes a decimal")
    return -exponent


def _single(value: Any, tally: Tally) -> Value:  # noqa: ANN401
    sent = checked(value, int | float | decimal.Decimal)
    return tally.normalise("float-text", "float", float(sent), number_of(sent, "float"))


_EXACT: Final = decimal.Context(prec=2 * 38)


_BARE: Final = {"boolean", "tinyint", "smallint", "int", "long", "float", "double"}
_PRIMITIVES: Final[dict[str, Convert]] = {
    "boolean": lambda value: checked(value, bool),
    **dict.fromkeys(("tinyint", "smallint", "int", "long"), lambda value: checked(value, int)),
    "double": lambda value: number_of(checked(value, int | float | decimal.Decimal), "double"),
    "string": lambda value: checked(value, str),
    "binary": lambda value: checked(value, bytes),
    "date": lambda value: day(checked(value, str)),
    "timestamp": lambda value: moment(checked(value, str)),
}
