"""Planted readers that change values of small types, times, bytes, bounded texts and deep parts."""

from __future__ import annotations

import base64
import math
import random
import struct
from dataclasses import replace
from typing import Final

from harness.core.records import FindingKind
from harness.model.canonical import MapValue, Value
from tests.builders.random_story import Plot
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read, spoil
from tests.quality.defects_values import HOUR, Change, moved
from tests.quality.planted import having, plant, planted

ALTERED, DRIFT, LOST, UNEXPLAINED = (
    FindingKind.ALTERED_VALUE,
    FindingKind.TYPE_DRIFT,
    FindingKind.LOST_VALUE,
    FindingKind.UNEXPLAINED,
)


def _text(value: Value) -> Value:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value  # what is no text stays bytes


def _backwards(value: Value) -> Value:
    return bytes(reversed(value))


DEEP: Final = "map<string, array<struct<a: string, b: int>>>"


def _deep(**changes: Change) -> Change:

    def part(name: str, value: Value) -> Value:
        return changes[name](value) if name in changes and value is not None else value

    def inside(value: Value) -> Value:
        match value:
            case MapValue():
                return MapValue(tuple((key, inside(pair)) for key, pair in value.pairs))
            case tuple():
                return tuple(map(inside, value))
            case dict():
                return {name: part(name, each) for name, each in value.items()}
        return value

    return inside


SPOILT: Final[dict[str, tuple[str, FindingKind, Change]]] = {
    "small integers as texts": ("smallint", DRIFT, str),
    "small integers as floating numbers": ("smallint", DRIFT, float),
    "small integers of 8 bits": ("smallint", UNEXPLAINED, lambda v: -1 - v % 128),
    "small integers with the other sign": ("tinyint", UNEXPLAINED, lambda v: -v or None),
    "times without a zone eight hours off": ("timestamp_ntz", ALTERED, moved(-8 * HOUR)),
    "times without a zone as texts": ("timestamp_ntz", DRIFT, lambda v: v.isoformat(sep=" ")),
    "bytes as texts": ("binary", DRIFT, _text),
    "bytes as hexadecimal digits": ("binary", DRIFT, bytes.hex),
    "bytes as base64": ("binary", DRIFT, lambda v: base64.b64encode(v).decode()),
    "bytes cut off": ("binary", ALTERED, lambda v: v[:-1]),
    # Zeros alone may as well be another one's: they tell nothing.
    "bytes padded with zeros": ("binary", ALTERED, lambda v: v + b"\0\0" if v.strip(b"\0") else v),
    "bytes backwards": ("binary", UNEXPLAINED, _backwards),
    "char without its blanks": ("char(12)", ALTERED, str.rstrip),
    "char with a blank too many": ("char(12)", ALTERED, lambda v: f"{v} "),
    "varchar padded like char": ("varchar(12)", ALTERED, lambda v: v.ljust(12)),
    "deep numbers as texts": (DEEP, DRIFT, _deep(b=str)),
    "deep numbers with the other sign": (DEEP, UNEXPLAINED, _deep(b=lambda v: -v)),
    "deep texts in capitals": (DEEP, ALTERED, _deep(a=str.upper)),
    "deep texts as NULL": (DEEP, LOST, _deep(a=lambda _: None)),
}


def _plant(name: str, type_: str, kind: FindingKind, change: Change) -> None:
    def way(story: Story, _: random.Random) -> Seen:
        return spoil(read(story), (type_,), kind, lambda v: None if v is None else change(v))

    plant(name, way, twist=having(type_))


for _name, (_type, _kind, _change) in SPOILT.items():
    _plant(_name, _type, _kind, _change)


def _precise(plot: Plot, _: random.Random) -> Plot:
    columns = plot.columns.replace("ts long, ", "ts long, x double, ", 1)
    steps = f"{plot.steps}; row id=401 x=0.1; row id=402 x=1234567.891; touch some"
    return replace(plot, columns=columns, steps=steps)


def _as_float(value: Value) -> Value:
    if value is None:
        return None
    try:
        (short,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:  # Python refuses where Java's cast gives infinity
        return math.copysign(math.inf, value)
    return value if short == value else short


@planted("doubles with the digits of a float", twist=_precise)
def _short(story: Story, _: random.Random) -> Seen:
    return spoil(read(story), ["double"], FindingKind.ALTERED_VALUE, _as_float)
