"""Texts that are cast to numbers."""

from __future__ import annotations

import pytest

from harness.model.datatypes import DataType, Decimal, Primitive
from harness.model.simulation.value_conversions import cast_differs, cast_value

INT, LONG, TEXT = Primitive("int"), Primitive("long"), Primitive("string")
DOUBLE, FLOAT, DECIMAL = Primitive("double"), Primitive("float"), Decimal(10, 2)


@pytest.mark.parametrize("text", ["f3s1r1", "", " ", "7s", "--7"])
def test_what_is_no_number_is_null(text: str) -> None:
    assert cast_value(text, INT) is None


def test_what_is_one_stays_it() -> None:
    assert (cast_value("7", INT), cast_value("-8000000000", LONG)) == (7, -8_000_000_000)


@pytest.mark.parametrize("text", ["7.5", "8000000000", " 7", "1.2.3"])
def test_nothing_is_said_of_a_number_without_an_exact_form(text: str) -> None:
    with pytest.raises(ValueError, match="no exact form"):
        cast_value(text, INT)


@pytest.mark.parametrize("to", [DOUBLE, FLOAT, DECIMAL])
@pytest.mark.parametrize("text", ["f3s1r1", "", "e5", "1e", "nano", "infinite"])
def test_what_is_no_number_is_null_as_one_with_a_fraction_too(text: str, to: DataType) -> None:
    assert cast_value(text, to) is None


@pytest.mark.parametrize("text", ["1d", " NaN ", "-Infinity", "1.2.3"])
def test_nothing_is_said_of_what_spark_may_take_for_a_number(text: str) -> None:
    with pytest.raises(ValueError, match="no exact form"):
        cast_value(text, DECIMAL)


def test_a_number_with_a_fraction_stays_it() -> None:
    assert (cast_value("7.5", DOUBLE), cast_value("1e3", FLOAT)) == (7.5, 1000.0)
    assert str(cast_value("7.5", DECIMAL)) == "7.50"


def test_only_texts_under_numbers_may_become_null() -> None:
    assert all(cast_differs(TEXT, to) for to in (INT, LONG, DOUBLE, FLOAT, DECIMAL))
    assert not any(cast_differs(*each) for each in [(TEXT, TEXT), (INT, TEXT), (INT, LONG)])
    assert not any(cast_differs(TEXT, Primitive(name)) for name in ("date", "boolean", "timestamp"))
