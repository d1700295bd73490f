"""Planted readers that change values of small types, times, bytes and bounded texts."""

from __future__ import annotations

import base64
import random
from typing import Final

from harness.model.canonical import Value
from harness.record import FindingKind
from tests.quality.defects_values import HOUR, Change
from tests.quality.notation import Told
from tests.quality.planted import having, plant
from tests.quality.shadow import Seen, read, spoil

ALTERED, DRIFT, UNEXPLAINED = (
    FindingKind.ALTERED_VALUE,
    FindingKind.TYPE_DRIFT,
    FindingKind.UNEXPLAINED,
)


def _backwards(value: Value) -> Value:
    return bytes(reversed(value))


SPOILT: Final[dict[str, tuple[str, FindingKind, Change]]] = {
    "small integers as texts": ("smallint", DRIFT, str),
    "small integers as floating numbers": ("smallint", DRIFT, float),
    "small integers of 8 bits": ("smallint", UNEXPLAINED, lambda v: -1 - v % 128),
    "small integers with the other sign": ("tinyint", UNEXPLAINED, lambda v: -v or None),
    "times without a zone eight hours off": ("timestamp_ntz", ALTERED, lambda v: v - 8 * HOUR),
    "times without a zone as texts": ("timestamp_ntz", DRIFT, lambda v: v.isoformat(sep=" ")),
    "bytes as texts": ("binary", DRIFT, bytes.decode),
    "bytes as hexadecimal digits": ("binary", DRIFT, bytes.hex),
    "bytes as base64": ("binary", DRIFT, lambda v: base64.b64encode(v).decode()),
    "bytes cut off": ("binary", ALTERED, lambda v: v[:-1]),
    "bytes padded with zeros": ("binary", ALTERED, lambda v: v + b"\0\0"),
    "bytes backwards": ("binary", UNEXPLAINED, _backwards),
    "char without its blanks": ("char(12)", ALTERED, str.rstrip),
    "char with a blank too many": ("char(12)", ALTERED, lambda v: f"{v} "),
    "varchar padded like char": ("varchar(12)", ALTERED, lambda v: v.ljust(12)),
}


def _plant(name: str, type_: str, kind: FindingKind, change: Change) -> None:
    def way(told: Told, _: random.Random) -> Seen:
        return spoil(read(told), (type_,), kind, lambda v: None if v is None else change(v))

    plant(name, way, twist=having(type_))


for _name, (_type, _kind, _change) in SPOILT.items():
    _plant(_name, _type, _kind, _change)
