from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.model.canonical import Value, same
from harness.model.conversion import cast_text, convert
from harness.model.datatypes import parse_type

NOON = datetime.datetime(2024, 2, 29, 12)  # noqa: DTZ001 - canonical timestamps have no zone


@pytest.mark.parametrize(
    ("value", "to", "expected"),
    [
        (None, "int", None),
        (7, "long", 7),
        (7, "double", 7.0),
        (7, "string", "7"),
        (7, "decimal(4, 2)", Decimal("7.00")),
        ("7", "int", 7),
        ("7.5", "double", 7.5),
        (7.0, "int", 7),
        (0.1, "double", 0.1),
        (0.5, "float", 0.5),
        (Decimal("7.50"), "string", "7.50"),
        (Decimal("7.50"), "decimal(3, 1)", Decimal("7.5")),
        (True, "string", "true"),
        (True, "boolean", True),
        ("2024-02-29", "date", NOON.date()),
        (NOON.date(), "string", "2024-02-29"),
        (NOON, "string", "2024-02-29 12:00:00"),
        ("2024-02-29 12:00:00", "timestamp", NOON),
        (NOON.date(), "timestamp", NOON.replace(hour=0)),
        (float("inf"), "float", float("inf")),
        (float("nan"), "double", float("nan")),
    ],
)
def test_a_value_with_an_exact_form_gets_it(value: Value, to: str, expected: Value) -> None:
    assert same(convert(value, parse_type(to)), expected)


@pytest.mark.parametrize(
    ("value", "to"),
    [
        ("x", "int"),
        (7.5, "int"),
        (2**31, "int"),
        (2**63, "long"),
        (2**53 + 1, "double"),
        (2**24 + 1, "float"),
        (0.1, "float"),
        (1e300, "float"),
        (100, "decimal(4, 2)"),
        (Decimal("7.25"), "decimal(3, 1)"),
        ("nan", "decimal(3, 1)"),
        (float("inf"), "long"),
        (1, "boolean"),
        ("true", "boolean"),
        (True, "int"),
        (True, "decimal(3, 1)"),
        (7, "date"),
        (NOON, "date"),
        ("2024-02-30", "date"),
        (7, "timestamp"),
        ("2024-02-29 12:00:00.000001", "timestamp"),
        ("2024-02-29 12:00:00+01:00", "timestamp"),
        (1e9, "string"),
        ([1], "string"),
        ({"a": 1}, "int"),
    ],
)
def test_nothing_is_ever_rounded_or_guessed(value: Value, to: str) -> None:
    with pytest.raises(ValueError, match="has no exact form as "):
        convert(value, parse_type(to))


def test_milliseconds_are_written_without_zeros_behind_them() -> None:
    assert cast_text(NOON.replace(microsecond=250_000)) == "2024-02-29 12:00:00.25"
