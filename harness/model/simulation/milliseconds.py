"""What is left of timestamps where a reader keeps whole milliseconds alone.

Source: Hive with Hudi's input formats (`Hive3Shim.getTimestampWriteable`, Hudi 1.0.2: the stored
microseconds are divided by 1000 as whole numbers). So a moment before 1970 becomes a later one.
"""

from __future__ import annotations

import datetime
from typing import Final

from harness.model.canonical import Value, leaves, map_leaves
from harness.model.simulation.physical_values import EPOCH

MILLISECOND: Final = 1000
"""Microseconds of one."""


def finer(value: Value) -> bool:
    """Return whether a value holds a timestamp of which something would be cut off."""
    return any(map(_is_finer, leaves(value)))


def cut(value: Value) -> Value:
    """Return a value with its timestamps cut towards 1970.

    >>> str(cut(datetime.datetime(1969, 12, 31, 23, 59, 59, 123456)))
    '1969-12-31 23:59:59.124000'
    >>> str(cut((datetime.datetime(2024, 2, 29, 0, 0, 0, 123456),))[0])
    '2024-02-29 00:00:00.123000'
    """
    return map_leaves(value, _cut) if finer(value) else value


def _is_finer(value: Value) -> bool:
    return isinstance(value, datetime.datetime) and value.microsecond % MILLISECOND != 0


def _cut(value: Value) -> Value:
    if not _is_finer(value):
        return value
    left = value.microsecond % MILLISECOND
    away = left - MILLISECOND if value < EPOCH else left
    return value - datetime.timedelta(microseconds=away)
