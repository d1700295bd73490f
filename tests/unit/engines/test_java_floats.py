"""Which texts stand for a floating number: those that Java prints, and none that is only near."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engines.java_floats import is_printed, number_of
from harness.model.canonical import same, single

BY_JAVA = [
    ("float", "1.4E-45", 2.0**-149),
    ("float", "1.17549435E-38", 2.0**-126),  # Java 11
    ("float", "1.1754944E-38", 2.0**-126),  # Java 25
    ("float", "3.4028235E38", (2 - 2.0**-23) * 2.0**127),
    ("float", "9.6714065E24", 2.0**83),
    ("float", "2.68435488E8", 268_435_488.0),
    ("float", "2.6843549E8", 268_435_488.0),
    ("float", "6.8905146E25", single(6.8905146e25)),
    ("float", "3.89999991E12", single(3.9e12)),
    ("float", "503002.1", 503002.09375),
    ("float", "0.0", 0.0),
    ("double", "4.9E-324", 5e-324),
    ("double", "1.58E-322", 2.0**-1069),
    ("double", "1.6E-322", 2.0**-1069),
    ("double", "2.2250738585072014E-308", 2.0**-1022),
    ("double", "1.7976931348623157E308", 1.7976931348623157e308),
    ("double", "1.44115188075855872E17", 2.0**57),
    ("double", "6.542700000000001E20", 6.5427e20),
    ("double", "5.9604644775390625E-8", 2.0**-24),
    ("double", "0.1", 0.1),
]
"""As Java 11.0.13 or 25.0.2 printed them."""


@pytest.mark.parametrize(("kind", "text", "number"), BY_JAVA)
def test_what_java_prints_is_the_number(kind: str, text: str, number: float) -> None:
    for sent in (Decimal(text), float(text)):
        assert same(number_of(sent, kind), number)
    assert same(number_of(Decimal(f"-{text}"), kind), -number)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("float", "401001.509"),
        ("float", "401001.501"),
        ("float", "503002.09"),
        ("float", "503002.094"),
        ("float", "16777218.1"),
        ("float", "16777218.9"),
        ("float", "1E-60"),
        ("float", "0.100000001"),
        ("double", "0.10000000000000001"),
        ("double", "0.1000000000000000055511"),
        ("double", "1e999"),
        ("double", "1e-999"),
    ],
)
def test_what_is_only_near_to_a_number_is_none(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match="but no text of it"):
        number_of(Decimal(text), kind)


def test_a_number_greater_than_all_of_its_type_is_none() -> None:
    with pytest.raises(OverflowError):
        number_of(1e39, "float")


@given(st.floats(width=32))
def test_a_number_stands_for_itself(value: float) -> None:
    assert same(number_of(value, "float"), value)
    assert same(number_of(value, "double"), value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_pythons_shortest_text_of_a_double_is_taken(value: float) -> None:
    assert same(number_of(Decimal(repr(value)), "double"), value)


@given(st.floats(width=32, min_value=2.0**-100, max_value=2.0**23), st.integers(1, 3))
def test_one_digit_more_than_needed_is_no_text_of_a_number(value: float, more: int) -> None:
    needed = next(n for n in range(1, 10) if single(float(f"{value:.{n}e}")) == value)
    longer = Decimal(f"{value:.{needed + more}e}")
    exact = longer == Decimal(value) or math.frexp(value)[0] == 0.5
    shorter = longer == Decimal(f"{value:.{needed}e}")
    assert is_printed(longer, value, "float") == (exact or shorter)
