"""Timestamps of which whole milliseconds are left."""

from __future__ import annotations

import datetime

import pytest

from harness.model.canonical import MapValue, Value
from harness.model.simulation.value_conversions import cut, finer


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("stored", "left"),
    [
        ("2024-03-31 00:30:00.000001", "2024-03-31 00:30:00"),
        ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999000"),
        ("1969-12-31 23:59:59.123456", "1969-12-31 23:59:59.124000"),
        ("0001-01-03 00:00:00.000001", "0001-01-03 00:00:00.001000"),
        ("1969-12-31 23:59:59.999999", "1970-01-01 00:00:00"),
        ("1969-12-31 23:59:59.250000", "1969-12-31 23:59:59.250000"),
    ],
)
def test_what_is_less_than_a_millisecond_is_cut_off_towards_1970(stored: str, left: str) -> None:
    assert cut(at(stored)) == at(left)
    assert finer(at(stored)) == (stored != left)
    assert not finer(at(left))


def test_timestamps_inside_of_others_are_cut_as_well() -> None:
    whole, left = at("2024-01-01 00:00:00.000001"), at("2024-01-01 00:00:00")
    nested: Value = {"a": (whole, 7), "b": MapValue.of([(whole, whole)])}
    assert finer(nested)
    assert cut(nested) == {"a": (left, 7), "b": MapValue.of([(left, left)])}


@pytest.mark.parametrize("value", [None, 7, "2024", datetime.date(2024, 1, 1), {"a": None}])
def test_other_values_stay_as_they_are(value: Value) -> None:
    assert cut(value) is value
    assert not finer(value)
