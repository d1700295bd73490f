from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.canonical import MapValue, Value, from_json, moment, same, text_of, to_json

MOMENT = datetime.datetime(2024, 2, 29, 12, 0, 0, 250_000)  # noqa: DTZ001 - in UTC by agreement
SCALARS: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
    st.datetimes(),
    st.binary(),
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(), inner, max_size=3),
        st.lists(st.tuples(st.text(), inner), max_size=3).map(MapValue.of),
    ),
    max_leaves=6,
)


@settings(max_examples=50)
@given(VALUES)
def test_every_value_comes_back_from_json_with_its_type(value: Value) -> None:
    assert same(from_json(json.loads(json.dumps(to_json(value)))), value)


def test_the_same_number_in_four_types_is_four_values_with_one_text() -> None:
    numbers: list[Value] = [1, 1.0, Decimal(1), Decimal("1.0")]
    equal = [(a, b) for a in numbers for b in numbers if a is not b and same(a, b)]
    assert equal == []
    assert {text_of(number) for number in numbers} == {"1"}


@pytest.mark.parametrize(
    ("left", "right"),
    [(True, 1), (0.0, -0.0), (MOMENT, MOMENT.date()), ((1,), (1, 2)), ({"a": 1}, {"b": 1})],
)
def test_what_differs_in_type_sign_length_or_names_is_not_the_same(
    left: Value, right: Value
) -> None:
    assert not same(left, right)


def test_nan_is_itself_and_a_map_has_no_order() -> None:
    assert same(float("nan"), float("nan"))
    assert same(MapValue.of([("a", 1), ("b", 2)]), MapValue.of([("b", 2), ("a", 1)]))


@pytest.mark.parametrize("zone", ["+01:00", "Z", "-00:30"])
def test_a_timestamp_with_a_zone_is_a_text_wherever_it_comes_from(zone: str) -> None:
    sent = f"2024-01-02 03:04:05{zone}"
    assert moment(sent) == sent
    assert from_json({"timestamp": sent}) == sent


@pytest.mark.parametrize(
    "sent",
    [
        *("2024-01-02T03:04:05", "2024-01-02 03:04", "2024-01-02 03", "20240102 030405"),
        *("2024-01-02  03:04:05", "2024-01-02 03:04:05.", "2024-01-02 03:04:05,5", "2024-01-02"),
        *("2024-01-02 24:00:00", "2024-02-30 03:04:05", "\u0662024-01-02 03:04:05"),
    ],
)
def test_a_moment_of_a_form_that_no_engine_uses_is_a_text(sent: str) -> None:
    assert moment(sent) == sent
