"""What a query answers over rows, and what survives its record."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import pytest

from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, Extreme, Query, not_less, not_null

NAMES = ("id", "a", "n")
ROWS = [("1", {"b": "x"}, 7), ("2", None, None), ("3", {"b": None}, 8)]


def test_parts_of_a_null_struct_are_null() -> None:
    query = Query(columns=("id", "a.b"))
    assert query.answer(NAMES, ROWS) == [("1", "x"), ("2", None), ("3", None)]
    assert query.labels(NAMES) == ("id", "a.b")


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        (Condition("n", Comparison.EQUAL, "7", "int"), ["1"]),
        (Condition("n", Comparison.NULL), ["2"]),
        (not_null("a.b"), ["1"]),
        (Condition("a.b", Comparison.EQUAL, "x", "string"), ["1"]),
    ],
)
def test_a_predicate_takes_the_rows_it_holds_for(where: Condition, keys: list[str]) -> None:
    assert [row[0] for row in Query(where=where).answer(NAMES, ROWS)] == keys
    assert Query(where=where, count=True).answer(NAMES, ROWS) == [(len(keys),)]


@pytest.mark.parametrize(
    ("literal", "type_", "value"),
    [
        ("true", "boolean", True),
        ("503002.5", "double", 503002.5),
        ("12.50", "decimal(12, 2)", Decimal("12.50")),
        ("2001-02-03", "date", datetime.date(2001, 2, 3)),
    ],
)
def test_a_condition_knows_its_value_in_its_type(literal: str, type_: str, value: object) -> None:
    condition = Condition("f", Comparison.EQUAL, literal, type_)
    assert condition.value == value
    assert type(condition.value) is type(value)
    assert condition.holds(value)
    assert not condition.holds(None)


@pytest.mark.parametrize(
    ("literal", "type_", "value", "equal"),
    [
        ("1.50", "decimal(3, 2)", Decimal("1.5"), True),
        ("7", "int", Decimal("7.00"), True),
        ("7.5", "double", Decimal("7.50"), True),
        ("1", "int", True, False),
        ("7", "int", "7", False),
        ("true", "boolean", 1, False),
        ("7.5", "double", float("nan"), False),
        ("ab", "char(4)", "ab", True),
        ("ab", "char(4)", "ab  ", True),
        ("ab", "char(4)", "b", False),
        ("ab", "string", "ab  ", False),
    ],
)
def test_values_are_compared_as_sql_compares(
    literal: str, type_: str, value: object, *, equal: bool
) -> None:
    assert Condition("f", Comparison.EQUAL, literal, type_).holds(value) is equal


@pytest.mark.parametrize("other", [1.5, Decimal("1.50"), 7])
@pytest.mark.parametrize("extreme", Extreme)
def test_nothing_is_predicted_of_the_order_of_nan(extreme: Extreme, other: Value) -> None:
    for values in ([math.nan, other], [other, math.nan]):
        with pytest.raises(ValueError, match="the place of NaN"):
            extreme.of(values)
    for left, right in ((math.nan, other), (other, math.nan)):
        with pytest.raises(ValueError, match="the place of NaN"):
            not_less(left, right)
