from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.model.canonical import Value, same
from harness.model.conversion import convert
from harness.model.datatypes import parse_type

NOON = datetime.datetime(2024, 2, 29, 12)  # noqa: DTZ001 - canonical timestamps have no zone
LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("value", "to", "expected"),
    [
        (None, "int", None),
        (7, "string", "7"),
        (7, "decimal(4, 2)", Decimal("7.00")),
        ("7", "int", 7),
        (7.0, "int", 7),
        (0.1, "double", 0.1),
        (Decimal("7.50"), "decimal(3, 1)", Decimal("7.5")),
        (True, "string", "true"),
        ("2024-02-29", "date", NOON.date()),
        (NOON, "string", "2024-02-29 12:00:00"),
        ("2024-02-29 12:00:00", "timestamp", NOON),
        (NOON.date(), "timestamp", NOON.replace(hour=0)),
        ("2024-02-29 12:00:00.000001000", "timestamp", NOON.replace(microsecond=1)),
        ("2024-02-29 14:00:00+02:00", "timestamp", NOON),
        ("2024-03-31 02:30:00", "timestamp_ntz", NOON.replace(month=3, day=31, hour=2, minute=30)),
        ("0001-01-01", "date", datetime.date.min),
        ("9999-12-31 23:59:59.999999", "timestamp", LAST),
        (-128, "tinyint", -128),
        (-(2**63), "long", -(2**63)),
        ("0x00fF", "binary", b"\x00\xff"),
        ("ab", "char(4)", "ab  "),
        (-0.0, "double", -0.0),
        (-0.0, "decimal(3, 1)", Decimal("0.0")),
        (5e-324, "double", 5e-324),
        (1 - 10**38, "decimal(38, 0)", Decimal(1 - 10**38)),
        (float("-inf"), "float", float("-inf")),
        (float("nan"), "double", float("nan")),
    ],
)
def test_a_value_with_an_exact_form_gets_it(value: Value, to: str, expected: Value) -> None:
    assert same(convert(value, parse_type(to)), expected)


@pytest.mark.parametrize(
    ("value", "to"),
    [
        (7.5, "int"),
        (2**63, "long"),
        (2**53 + 1, "double"),
        (2**24 + 1, "float"),
        (0.1, "float"),
        (Decimal("7.25"), "decimal(3, 1)"),
        ("nan", "decimal(3, 1)"),
        ("29  ", "int"),
        ("1_000", "long"),
        (1, "boolean"),
        ("true", "boolean"),
        (True, "int"),
        (NOON, "date"),
        ("2024-02-30", "date"),
        (7, "timestamp"),
        ("2024-02-29 12:00:00.0000001", "timestamp"),
        ("0001-01-01 00:00:00+01:00", "timestamp"),
        ("2024-02-29 14:00:00+02:00", "timestamp_ntz"),
        ("2024-02-29 12:00:00Z", "timestamp_ntz"),
        (128, "tinyint"),
        (0xFF, "binary"),
        ("0xf", "binary"),
        ("abcde", "char(4)"),
        (10**38, "decimal(38, 0)"),
        (1e9, "string"),
        ({"a": 1}, "int"),
    ],
)
def test_nothing_is_ever_rounded_or_guessed(value: Value, to: str) -> None:
    with pytest.raises(ValueError, match="has no exact form as "):
        convert(value, parse_type(to))


@pytest.mark.parametrize(
    ("value", "to", "problem"),
    [
        (255, "binary", 'as quoted text: "0x00ff"'),
        ("2024-01-01 00:00:00.0000001", "timestamp", "no finer"),
        ("2024-01-01 00:00:00+02:00", "timestamp_ntz", "no offset: it has no zone"),
        (1, "boolean", "write true or false"),
    ],
)
def test_who_gave_another_value_is_told_how_to_write_one(
    value: Value, to: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        convert(value, parse_type(to))
