"""What is left of timestamps where a reader keeps whole milliseconds alone.

Source: Hive with Hudi's input formats (`Hive3Shim.getTimestampWriteable`, Hudi 1.0.2: the stored
microseconds are divided by 1000 as whole numbers). So a moment before 1970 becomes a later one.
"""

from __future__ import annotations

import datetime
from typing import Final

from harness.model.canonical import MapValue, Value
from harness.model.simulation.physical_values import EPOCH

MILLISECOND: Final = 1000
"""Microseconds of one."""


def finer(value: Value) -> bool:
    """Return whether a value holds a timestamp of which something would be cut off."""
    match value:
        case datetime.datetime():
            return value.microsecond % MILLISECOND != 0
        case tuple():
            return any(map(finer, value))
        case dict():
            return any(map(finer, value.values()))
        case MapValue():
            return any(finer(each) for pair in value.pairs for each in pair)
    return False


def cut(value: Value) -> Value:
    """Return a value with its timestamps cut towards 1970.

    >>> str(cut(datetime.datetime(1969, 12, 31, 23, 59, 59, 123456)))
    '1969-12-31 23:59:59.124000'
    >>> str(cut((datetime.datetime(2024, 2, 29, 0, 0, 0, 123456),))[0])
    '2024-02-29 00:00:00.123000'
    """
    if not finer(value):
        return value
    match value:
        case datetime.datetime():
            left = value.microsecond % MILLISECOND
            away = left - MILLISECOND if value < EPOCH else left
            return value - datetime.timedelta(microseconds=away)
        case tuple():
            return tuple(map(cut, value))
        case dict():
            return {name: cut(each) for name, each in value.items()}
        case MapValue():
            return MapValue.of([(cut(key), cut(each)) for key, each in value.pairs])
    return value
