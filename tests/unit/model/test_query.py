"""What a query answers over rows, and what survives its record."""

import datetime
import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, strategies

from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, Extreme, Query, not_less
from tests.builders.conditions import not_null

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


VALUES = [None, -3, 0, 1, 2, 3, 7]
TEXTS = [None, "", "a", "ab", "abc", "b", "a ", "B"]
SIGNS = {
    Comparison.EQUAL: "{0} = {1}",
    Comparison.NOT_EQUAL: "{0} <> {1}",
    Comparison.NOT: "not ({0} = {1})",
    Comparison.LESS: "{0} < {1}",
    Comparison.AT_MOST: "{0} <= {1}",
    Comparison.GREATER: "{0} > {1}",
    Comparison.AT_LEAST: "{0} >= {1}",
    Comparison.BETWEEN: "{0} between {1} and {2}",
    Comparison.NULL: "{0} is null",
    Comparison.NOT_NULL: "{0} is not null",
    Comparison.STARTS_WITH: "{0} glob {1} || '*'",
}


LISTS = {Comparison.IN: "{} in ({})", Comparison.NOT_IN: "{} not in ({})"}


def _asked_of_sqlite(sqlite: sqlite3.Connection, condition: Condition, value: Value) -> bool | None:
    """Evaluate a condition by an engine that shares no code with ours."""
    others = condition.values
    text = SIGNS.get(condition.test, "").format("?1", "?2", "?3")
    if condition.test in LISTS:
        marks = ", ".join(f"?{at}" for at, _ in enumerate(others, start=2))
        text = LISTS[condition.test].format("?1", marks)
    ((result,),) = sqlite.execute(f"select {text}", (value, *others))
    return None if result is None else bool(result)


def _more(test: Comparison, pool: Sequence[Value]) -> Iterator[tuple[str | None, ...]]:
    """Yield what a condition can be compared with beside its first value."""
    there = [str(value) for value in pool if value is not None]
    if test is Comparison.BETWEEN:
        yield from ((text,) for text in there)
    elif test in LISTS:
        yield from ((), (None,), *((text,) for text in there), *((text, None) for text in there))
    else:
        yield ()


@pytest.mark.parametrize("pool", [VALUES, TEXTS])
@pytest.mark.parametrize("test", [*SIGNS, *LISTS])
def test_a_condition_is_of_every_value_what_sqlite_says(
    test: Comparison, pool: Sequence[Value]
) -> None:
    of_text = pool is TEXTS
    if test is Comparison.STARTS_WITH and not of_text:
        return
    with closing(sqlite3.connect(":memory:")) as sqlite:
        for value, first, more in product(pool, pool[1:], _more(test, pool)):
            type_ = "string" if of_text else "int"
            condition = Condition("f", test, str(first), type_, more)
            assert condition.truth_of(value) == _asked_of_sqlite(sqlite, condition, value)


@given(
    test=strategies.sampled_from(Comparison),
    values=strategies.lists(strategies.sampled_from([-0.0, 0.0, 1.5, -2.5, 7.25]), min_size=1),
    literal=strategies.sampled_from(["0.0", "-0.0", "1.5", "-3.5", "8.0"]),
    more=strategies.sampled_from(["0.0", "1.5", "7.25"]),
)
def test_bounds_exclude_no_value_that_meets_the_condition(
    test: Comparison, values: list[float], literal: str, more: str
) -> None:
    stored: list[Value] = [*values]
    if test is Comparison.STARTS_WITH:
        stored, condition = [*map(str, values)], Condition("f", test, literal[:2], "string")
    else:
        others = (more,) if test in {Comparison.BETWEEN, *LISTS} else ()
        condition = Condition("f", test, literal, "double", others)
    if condition.excluded_by(min(stored), max(stored)):
        assert not any(map(condition.holds, stored))


@pytest.mark.parametrize(
    ("test", "literal", "least", "greatest"),
    [
        (Comparison.EQUAL, "5", 6, 9),
        (Comparison.NOT_EQUAL, "5", 5, 5),
        (Comparison.NOT, "5", 5, 5),
        (Comparison.LESS, "5", 5, 9),
        (Comparison.AT_MOST, "5", 6, 9),
        (Comparison.GREATER, "5", 1, 5),
        (Comparison.AT_LEAST, "5", 1, 4),
        (Comparison.BETWEEN, "5", 8, 9),
        (Comparison.IN, "5", 8, 9),
        (Comparison.NOT_IN, "5", 5, 5),
    ],
)
def test_bounds_exclude_what_cannot_meet_the_condition(
    test: Comparison, literal: str, least: int, greatest: int
) -> None:
    more = ("7",) if test in {Comparison.BETWEEN, Comparison.IN, Comparison.NOT_IN} else ()
    condition = Condition("f", test, literal, "int", more)
    assert condition.excluded_by(least, greatest)
    assert not condition.excluded_by(least - 9, greatest + 9)
    assert not condition.excluded_by(None, None)


def test_a_beginning_is_excluded_by_what_stands_before_or_after_all_that_begin_so() -> None:
    begins = Condition("f", Comparison.STARTS_WITH, "ab", "string")
    assert begins.excluded_by("aa", "aazz")
    assert begins.excluded_by("ac", "b")
    assert not begins.excluded_by("abc", "abd")
    assert not begins.excluded_by("a", "ac")


def test_nan_is_nan_and_less_than_nothing_and_zeros_are_one() -> None:
    nan, zero = math.nan, Condition("f", Comparison.EQUAL, "0.0", "double")
    assert Condition("f", Comparison.NAN).holds(nan)
    assert [Condition("f", Comparison.NOT_NAN).truth_of(value) for value in (nan, 1.0, None)] == [
        *(False, True, None)
    ]
    assert zero.holds(-0.0)
    assert not Condition("f", Comparison.LESS, "0.0", "double").holds(-0.0)
    assert not Condition("f", Comparison.LESS, "5.0", "double").holds(nan)
    assert Condition("f", Comparison.NOT, "5.0", "double").holds(nan)
    with pytest.raises(ValueError, match="the place of NaN"):
        Condition("f", Comparison.GREATER, "5.0", "double").holds(nan)


def test_a_value_of_another_kind_meets_no_negation_and_is_refused() -> None:
    for test in (Comparison.NOT, Comparison.NOT_EQUAL, Comparison.NOT_IN):
        with pytest.raises(ValueError, match="of two kinds"):
            Condition("f", test, "5", "int").holds("5")


def test_a_condition_says_what_an_engine_must_be_able_to_be_asked() -> None:
    with_null = Condition("f", Comparison.NOT_IN, "5", "int", ("6", None))
    assert with_null.needs == ("not_in", "null_in_list")
    assert not with_null.holds(7)
    moment = "2024-01-01 00:00:00.123456"
    assert Condition("t", Comparison.EQUAL, moment, "timestamp").needs == ("equal", "microseconds")
    assert Condition("t", Comparison.EQUAL, moment[:-3], "timestamp").needs == ("equal",)
