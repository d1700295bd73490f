"""What is the same value in another type."""

from __future__ import annotations

import pytest

from harness.checks import type_drift
from harness.checks.place import Place, What
from harness.model.canonical import Value
from tests.quality.notation import history

WORLD = history("insert 1", "id string, f1 string").world()


def drifts(expected: Value, found: Value) -> bool:
    return type_drift.explains(Place(What.CELL, "1", "f1", expected, found), WORLD)


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
    ],
)
def test_bytes_as_text_and_text_as_bytes_are_the_right_value(expected: Value, found: Value) -> None:
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
    ],
)
def test_other_values_are_not(expected: Value, found: Value) -> None:
    assert not drifts(expected, found)
