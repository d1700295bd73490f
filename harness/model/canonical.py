"""Canonical values: the one Python form of a value, whatever engine answered it.

| type | Python |
| --- | --- |
| boolean, int, long, string | `bool`, `int`, `int`, `str` |
| float | `float`, exactly the 32-bit number |
| double | `float` |
| decimal | `decimal.Decimal` with the column's scale |
| date | `datetime.date` |
| timestamp | `datetime.datetime` without zone, meaning UTC |
| timestamp_ntz | `datetime.datetime` without zone, meaning none |
| variant | `str`, its JSON as `json_text` writes it |
| struct | `dict` from the child's name (in the model: its field id) to its value, in order |
| array | `tuple` |
| map | `MapValue`, its pairs sorted by the text of the key |
| NULL | `None` |
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias


@dataclass(frozen=True, slots=True)
class MapValue:
    """The pairs of a map; equal whatever order an engine gives them in."""

    pairs: tuple[tuple[Value, Value], ...]

    @classmethod
    def of(cls, pairs: list[tuple[Value, Value]]) -> MapValue:
        return cls(tuple(sorted(pairs, key=lambda pair: text_of(pair[0]))))


class Unpredicted:
    """Stands in a prediction where a reader refuses what it meets, or shows nobody knows what."""


class Unsettled:
    """Stands in the truth where no specification settles what a value becomes in another type."""

    def __str__(self) -> str:
        return "not settled"

    __repr__ = __str__


UNSETTLED: Final = Unsettled()
Value = Any
"""None, bool, int, float, str, Decimal, date, datetime, bytes, dict, tuple or MapValue."""
Look: TypeAlias = "str | tuple[Look, ...] | None"
"""What values look alike by, of whatever types they are."""

OwnTexts = tuple[tuple[int, int, str], ...]
"""What an engine sent of cells that is written otherwise than their canonical value: number of the
row, number of the column, text."""


def single(value: float) -> float:
    """Return the nearest 32-bit number, which is the one a shortest decimal text stands for.

    >>> single(503002.1), single(0.5)
    (503002.09375, 0.5)

    Raises OverflowError: it is greater than all of them.
    """
    result: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return result


_MOST_DIGITS: Final = 400
"""No number of a type has more, before the point or behind it."""
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_MOMENT: Final = re.compile(rf"({_DAY.pattern} {_TIME})(?:\.([0-9]{{1,12}}))?")
"""The one form that engines use: Python reads many more, zones among them."""


def day(text: str) -> Value:
    """Return the date of a text, or the text where it is of another form or year."""
    try:
        return datetime.date.fromisoformat(text) if _DAY.fullmatch(text) else text
    except ValueError:
        return text


def moment(text: str) -> Value:
    """Return the timestamp of a text; the text where it does not fit microseconds or the form.

    >>> moment("2024-01-02 03:04:05.678000001"), moment("2024-01-02 03:04:05+01:00")
    ('2024-01-02 03:04:05.678000001', '2024-01-02 03:04:05+01:00')
    """
    result = _MOMENT.fullmatch(text)
    if result is None:
        return text
    fraction = result[2] or ""
    micros, beyond = fraction[:6].ljust(6, "0"), fraction[6:]
    if beyond.strip("0"):
        return text
    try:
        return datetime.datetime.fromisoformat(f"{result[1]}.{micros}")
    except ValueError:
        return text


def leaves(value: Value) -> Iterator[Value]:
    """Yield the innermost parts of a value, keys of maps among them."""
    match value:
        case tuple():
            parts: Iterable[Value] = value
        case dict():
            parts = value.values()
        case MapValue():
            parts = chain.from_iterable(value.pairs)
        case _:
            yield value
            return
    for part in parts:
        yield from leaves(part)


def map_leaves(value: Value, change: Callable[[Value], Value]) -> Value:
    match value:
        case tuple():
            return tuple(map_leaves(part, change) for part in value)
        case dict():
            return {name: map_leaves(part, change) for name, part in value.items()}
        case MapValue():
            pairs = [(map_leaves(k, change), map_leaves(v, change)) for k, v in value.pairs]
            return MapValue.of(pairs)
    return change(value)


def to_json(value: Value) -> object:
    """Return the form of a value that JSON can hold without losing its type.

    Raises TypeError: it is no canonical value.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case decimal.Decimal():
            return {"decimal": str(value)}
        case datetime.datetime():
            return {"timestamp": value.isoformat(sep=" ")}
        case datetime.date():
            return {"date": value.isoformat()}
        case bytes():
            return {"binary": value.hex()}
        case Unsettled():
            return {"unsettled": ""}
    return _parts_to_json(value)


def _parts_to_json(value: Value) -> object:
    match value:
        case tuple():
            return [to_json(part) for part in value]
        case dict():
            return {"struct": [[name, to_json(part)] for name, part in value.items()]}
        case MapValue():
            return {"map": [[to_json(key), to_json(pair)] for key, pair in value.pairs]}
    raise TypeError(f"{value!r} is no canonical value")


def from_json(data: Any) -> Value:  # noqa: ANN401 - JSON is of any type
    """Return the value whose form `to_json` returned; ValueError: it is no such form."""
    if isinstance(data, list):
        return tuple(from_json(part) for part in data)
    if not isinstance(data, dict):
        return data
    if len(data) != 1:
        raise ValueError(f"{data!r} is not the JSON form of a value")
    return _tagged(*next(iter(data.items())))


def _tagged(kind: str, inner: Any) -> Value:  # noqa: ANN401 - JSON is of any type
    match kind:
        case "float":
            return float(inner)
        case "decimal":
            return decimal.Decimal(inner)
        case "timestamp":
            result = datetime.datetime.fromisoformat(inner)
            # Canonical timestamps have no zone: one that has is a text, and no moment to count by.
            return result if result.tzinfo is None else inner
        case "date":
            return datetime.date.fromisoformat(inner)
        case "binary":
            return bytes.fromhex(inner)
        case "struct":
            return {name: from_json(part) for name, part in inner}
        case "map":
            return MapValue.of([(from_json(key), from_json(part)) for key, part in inner])
        case "unsettled":
            return UNSETTLED
    raise ValueError(f"'{kind}' is not a kind of value")


def json_text(text: str) -> str:
    """Return JSON in the one form in which variants are compared: by names, and numbers by value.

    >>> json_text('{"b": [1.50, null], "a": 1e2}')
    '{"a":100,"b":[1.5,null]}'

    Raises ValueError: it is no JSON, or an object has a name twice.
    """
    number = decimal.Decimal
    try:
        return _json_text(
            json.loads(text, parse_float=number, parse_int=number, object_pairs_hook=_object)
        )
    except RecursionError as problem:
        raise ValueError("it has too many parts inside of others") from problem


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(names := dict(pairs)) < len(pairs):
        raise ValueError("an object has a name twice")
    return names


def _json_text(data: Any) -> str:  # noqa: ANN401 - JSON is of any type
    match data:
        case dict():
            parts = (f"{_json_text(name)}:{_json_text(data[name])}" for name in sorted(data))
            return f"{{{','.join(parts)}}}"
        case list():
            return f"[{','.join(map(_json_text, data))}]"
        case decimal.Decimal() if abs(data.adjusted()) < _MOST_DIGITS:
            return _plain(data or abs(data))  # of JSON, -0.0 is no other number
        case decimal.Decimal() | float():
            raise ValueError(f"{data} is no number of a variant")
    return json.dumps(data, ensure_ascii=False)


def same(left: Value, right: Value) -> bool:
    """Return whether two canonical values are the same value *of the same type*.

    `1`, `1.0`, `True` and `Decimal(1)` are four values, NaN is itself, 0.0 and -0.0 are two. What
    is not settled differs from nothing: no answer is wrong there, nor is it right.
    """
    if isinstance(left, Unsettled) or isinstance(right, Unsettled):
        return True
    if type(left) is not type(right):
        return False
    match left:
        case float():
            both_nan = math.isnan(left) and math.isnan(right)
            return both_nan or (left == right and math.copysign(1, left) == math.copysign(1, right))
        case decimal.Decimal():
            return str(left) == str(right)
        case tuple():
            return len(left) == len(right) and all(map(same, left, right))
        case dict():
            return list(left) == list(right) and all(map(same, left.values(), right.values()))
        case MapValue():
            return len(left.pairs) == len(right.pairs) and all(map(same, left.pairs, right.pairs))
    return bool(left == right)


def equal(left: Value, right: Value) -> bool:
    """Return whether SQL takes two values that are not NULL for equal, of whatever types.

    Numbers are equal by what they are, whatever their type or scale, approximate ones as doubles
    (SQL:2016, 8.2, "comparison predicate"); all else must be of one type. A NaN is itself.

    >>> equal(decimal.Decimal("1.5"), decimal.Decimal("1.50")), equal(7, decimal.Decimal("7.0"))
    (True, True)
    >>> equal(0.0, -0.0), equal(1, True), equal("7", 7)
    (True, False, False)
    """
    if not (_is_number(left) and _is_number(right)) or math.isnan(left) or math.isnan(right):
        return same(left, right)
    if isinstance(left, float) or isinstance(right, float):
        return float(left) == float(right)
    return bool(left == right)


def _is_number(value: Value) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


_NUMBERS: Final = int, float, decimal.Decimal


def has_unsettled(value: Value) -> bool:
    return any(isinstance(leaf, Unsettled) for leaf in leaves(value))


def is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def text_of(value: Value) -> str:
    """Return the text people see, alike for the same number in whatever type."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case float() if math.isfinite(value):
            return _plain(decimal.Decimal(repr(value)))
        case decimal.Decimal():
            return _plain(value)
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case tuple():
            return f"[{', '.join(map(text_of, value))}]"
        case dict():
            return f"{{{', '.join(f'{name}: {text_of(part)}' for name, part in value.items())}}}"
        case MapValue():
            pairs = ", ".join(f"{text_of(key)} → {text_of(pair)}" for key, pair in value.pairs)
            return f"{{{pairs}}}"
        case bytes():
            return f"0x{value.hex()}"
    return str(value)


def look_of(value: Value) -> Look:
    """Return how a value looks: the same value in two types looks alike, and no other does.

    >>> look_of(7.0), look_of(None), look_of("NULL"), look_of(("a, b", None))
    ('7', None, 'NULL', ('array', 'a, b', None))
    """
    match value:
        case None | str():
            return value
        case tuple():
            return "array", *map(look_of, value)
        case dict():
            return "struct", *((name, look_of(part)) for name, part in value.items())
        case MapValue():
            return "map", *((look_of(key), look_of(pair)) for key, pair in value.pairs)
    return text_of(value)


def _plain(number: decimal.Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
