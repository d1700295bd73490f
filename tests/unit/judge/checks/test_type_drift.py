"""What is the same value in another type."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.judge.difference import Difference, DifferenceKind
from harness.judge.name import type_drift
from harness.model.canonical import MapValue, Value
from tests.builders.table_story import history

MOMENT = datetime.datetime(2001, 1, 4, 12, 10, 5, 250000)  # noqa: DTZ001 - canonical
WORLD = history("insert 1", "id string, f1 string").state()


def drifts(expected: Value, found: Value) -> bool:
    return type_drift(Difference(DifferenceKind.CELL, "1", "f1", expected, found), WORLD)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (b"hello", "hello"),
        (b"hello", "aGVsbG8="),
        (b"hello", "68656C6C6F"),
        (b"hello", "0x68656c6c6f"),
        (b"hello", "68 65 6c 6c 6f"),
        (b"", ""),
        ("größe", "größe".encode()),
        (7, "7"),
        (7, "7.0"),
        (7, "7   "),
        (7.0, "7.0"),
        (Decimal("7.50"), "7.50"),
        (1e10, "1.0E10"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (MOMENT, "2001-01-04 12:10:05.25"),
        (MOMENT, "2001-01-04T12:10:05.250000000"),
        (MOMENT.date(), "2001-01-04 00:00:00.0"),
        ("7.0", 7.0),
        ("7.50", Decimal("7.50")),
        ("2001-01-04 12:10:05.25", MOMENT),
        (MapValue(((1, "a"),)), MapValue((("1", "a"),))),
    ],
)
def test_what_only_came_in_another_type_is_the_right_value(expected: Value, found: Value) -> None:
    assert drifts(expected, found)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (b"hello", "hell"),
        (b"\xff", "\ufffd"),
        (b"hello", "\ud800"),
        ("hello", b"hell"),
        (b"7", 7),
        (-0.0, 0.0),
        (float("nan"), 0.0),
        ("7", "7.0"),
        ("07", 7),
        (7.5, "7"),
        (7, " 7"),
        (True, "1"),
        (7, "1e999999999"),
        (MOMENT, "2001-01-04 12:10:05.250000001"),
        (MOMENT, "2001-01-04 12:10:05.25+02:00"),
        (("a", "b"), ("a, b",)),
        ((), ("",)),
        (("a", "b"), "[a, b]"),
        (MapValue((("a", "b"), ("c", "d"))), MapValue((("a", "b, c → d"),))),
        ({"a": "x", "b": 1}, {"a": "x, b: 1"}),
        ((None,), ("NULL",)),
    ],
)
def test_other_values_are_not(expected: Value, found: Value) -> None:
    assert not drifts(expected, found)
