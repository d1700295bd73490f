"""What ORC's library shows of values that it converts."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.model.canonical import Value, same
from harness.model.datatypes import parse_type
from harness.model.simulation.value_conversions import converted_differs, converted_value


@pytest.mark.parametrize(
    ("value", "source", "to", "shown"),
    [
        # The first five were seen on Hive 3.1.3.
        (301001, "int", "char(5)", "30100"),
        (501001.5, "double", "char(5)", "50100"),
        ("38369", "char(5)", "decimal(9, 2)", Decimal("38369.00")),
        (Decimal("701001.25"), "decimal(9, 2)", "string", "701001.25"),
        ("f2s1r1", "string", "long", None),
        ("7", "string", "int", 7),
        ("7 ", "string", "int", None),
        ("7  ", "char(3)", "int", 7),
        ("1e3", "string", "double", 1000.0),
        ("1e3", "string", "int", None),
        (7, "int", "char(3)", "7  "),
        ("ab ", "string", "varchar(3)", "ab "),
        ("ab ", "char(3)", "string", "ab"),
        (40_000, "int", "smallint", None),
        (-2.5, "double", "int", -2),
        (float("nan"), "double", "int", None),
        (Decimal("12.345"), "decimal(5, 3)", "decimal(4, 2)", Decimal("12.35")),
        (Decimal("912.3"), "decimal(5, 1)", "decimal(3, 1)", None),
        (True, "boolean", "string", "TRUE"),
        (True, "boolean", "int", 1),
        (7, "int", "boolean", True),
        (0.1, "double", "float", 0.10000000149011612),
        ("2024-02-29", "string", "date", datetime.date(2024, 2, 29)),
        ("no day", "string", "date", None),
    ],
)
def test_a_value_is_cut_rounded_or_null_where_it_does_not_fit(
    value: Value, source: str, to: str, shown: Value
) -> None:
    assert same(converted_value(value, parse_type(source), parse_type(to)), shown)


@pytest.mark.parametrize(
    ("value", "source", "to"),
    [(datetime.date(2024, 2, 29), "date", "double"), (1e20, "double", "string")],
)
def test_what_is_refused_or_written_in_several_ways_is_not_predicted(
    value: Value, source: str, to: str
) -> None:
    with pytest.raises(ValueError, match="is not converted"):
        converted_value(value, parse_type(source), parse_type(to))


@pytest.mark.parametrize(
    ("source", "to", "may"),
    [
        ("int", "char(5)", True),
        ("string", "int", True),
        ("long", "int", True),
        ("char(5)", "string", True),
        ("int", "long", False),
        ("int", "string", False),
        ("int", "int", False),
        ("timestamp", "string", False),
        ("struct<a: int>", "string", False),
    ],
)
def test_only_what_may_lose_something_makes_a_way(source: str, to: str, *, may: bool) -> None:
    assert converted_differs(parse_type(source), parse_type(to)) is may
