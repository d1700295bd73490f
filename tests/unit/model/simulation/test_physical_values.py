"""Values that are taken as stored for those of another type: the number, or the bytes, stay."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.simulation.value_conversions import stored_differs, stored_value

DAY = datetime.date(1970, 1, 11)
NOON = datetime.datetime(1970, 1, 1, 12)  # noqa: DTZ001 - canonical timestamps have no zone


@pytest.mark.parametrize(
    ("value", "source", "to", "found"),
    [
        (10, "int", "date", DAY),
        (-1, "long", "date", datetime.date(1969, 12, 31)),
        (0x40500000, "int", "float", 3.25),
        (-0x40000000, "long", "float", -2.0),
        (43_200_000_000, "long", "timestamp", NOON),
        (1234, "int", "decimal(12, 2)", Decimal("12.34")),
        (-719_162, "int", "date", datetime.date(1, 1, 1)),
        (-719_163, "int", "date", "0000-12-31"),
        (2_932_896, "int", "date", datetime.date(9999, 12, 31)),
        (2_932_897, "int", "date", "+10000-01-01"),
        (3.4028234663852886e38, "float", "date", "+5858613-04-19"),
        (-3.4028234663852886e38, "float", "date", "-20998-10-09"),
        (DAY, "date", "int", 10),
        (DAY, "date", "long", 10),
        (DAY, "date", "decimal(4, 1)", Decimal("1.0")),
        (DAY, "date", "timestamp", datetime.datetime(1970, 1, 1, 0, 0, 0, 10)),  # noqa: DTZ001
        (3.25, "float", "long", 0x40500000),
        (-2.0, "float", "int", -0x40000000),
        (NOON, "timestamp", "long", 43_200_000_000),
        ("é", "string", "binary", b"\xc3\xa9"),
        (b"abc", "binary", "string", "abc"),
    ],
)
def test_the_number_or_the_bytes_stay(value: Value, source: str, to: str, found: Value) -> None:
    assert stored_differs(parse_type(source), parse_type(to))
    shown = stored_value(value, parse_type(to))
    assert (type(shown), shown) == (type(found), found)


@pytest.mark.parametrize(
    ("value", "to"),
    [
        (2**31, "float"),
        (2**40, "date"),
        (2**62, "timestamp"),
        (1.5, "smallint"),
        (b"\xff", "string"),
    ],
)
def test_what_has_no_such_value_is_none(value: Value, to: str) -> None:
    with pytest.raises(ValueError, match="as it is stored"):
        stored_value(value, parse_type(to))


@pytest.mark.parametrize(
    ("source", "to"),
    [
        ("int", "int"),
        ("int", "long"),
        ("long", "int"),
        ("int", "double"),
        ("double", "long"),
        ("boolean", "int"),
        ("int", "boolean"),
        ("int", "string"),
        ("timestamp", "int"),
        ("timestamp", "date"),
        ("int", "decimal(19, 2)"),
        ("decimal(12, 2)", "int"),
        ("array<int>", "date"),
    ],
)
def test_of_other_pairs_of_types_nothing_is_said(source: str, to: str) -> None:
    assert not stored_differs(parse_type(source), parse_type(to))
