from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.canonical import Value, from_json, same, text_of, to_json
from harness.model.conversion import convert
from harness.model.datatypes import PRIMITIVES, DataType, parse_type
from harness.model.schema import Field, number
from harness.model.values import MAX_FIELD, MAX_ROW, MAX_STEP, never_null

PLACES = st.tuples(st.integers(1, MAX_FIELD), st.integers(0, MAX_STEP), st.integers(1, MAX_ROW))
TRACEABLE = [
    *("int", "long", "float", "double", "decimal(9, 2)", "string", "date", "timestamp"),
    *("timestamp_ntz", "binary", "varchar(9)", "char(9)"),
]
CHAINS = [
    ("int", "long", "double"),
    ("int", "string"),
    ("int", "float", "double", "decimal(12, 4)"),
    ("long", "decimal(20, 0)", "string"),
    ("float", "double", "string"),
    ("double", "int"),
    ("decimal(9, 2)", "double", "float"),
    ("decimal(9, 2)", "decimal(12, 2)", "string"),
    ("decimal(12, 4)", "decimal(9, 1)", "long"),
    ("string", "int", "long"),
    ("string", "date"),
    ("date", "string"),
    ("string", "timestamp_ntz"),
    ("timestamp_ntz", "timestamp", "string"),
    ("boolean", "string"),
    ("tinyint", "smallint", "int", "double"),
    ("varchar(5)", "varchar(20)"),
    ("char(8)", "string"),
]


def value_at(
    origin: tuple[int, int, int], text: str, becomes: tuple[DataType, ...] | None = None
) -> Value:
    field_id, step, row = origin
    type_ = parse_type(text)
    field = Field(field_id, "f", type_)
    return never_null(field, step, row, {field_id: becomes or (type_,)})


@pytest.mark.parametrize("text", TRACEABLE)
def test_neighbours_at_the_limits_are_told_apart(text: str) -> None:
    limits = [
        (field, step, row)
        for field in (1, 2, MAX_FIELD - 1, MAX_FIELD)
        for step in (0, 1, MAX_STEP - 1, MAX_STEP)
        for row in (1, 2, MAX_ROW - 1, MAX_ROW)
    ]
    assert len({value_at(origin, text) for origin in limits}) == len(limits)


def test_both_elements_of_an_array_are_told_apart_from_all_of_another_row() -> None:
    field, _ = number("f", parse_type("array<date>"), MAX_FIELD - 2)
    arrays = [never_null(field, MAX_STEP, row, {}) for row in range(1, MAX_ROW + 1)]
    elements = [value for array in arrays for value in array if value is not None]
    assert len(set(elements)) == len(elements)
    assert max(elements) < datetime.date.max


@pytest.mark.parametrize("texts", CHAINS, ids=" → ".join)
@given(PLACES)
@settings(max_examples=15)
def test_a_value_is_exact_in_every_type_that_its_column_takes(
    texts: tuple[str, ...], origin: tuple[int, int, int]
) -> None:
    chain = tuple(map(parse_type, texts))
    for at, text in enumerate(texts):
        value = value_at(origin, text, chain)
        for later in chain[at:]:
            after = convert(value, later)
            # The same number in other types has one text; other values come back as they were.
            assert text_of(after) == text_of(value) or same(convert(after, chain[at]), value)


@given(PLACES, st.sampled_from(["int", "long", "double", "float", "date", "timestamp"]))
def test_what_orders_rows_grows_from_step_to_step(origin: tuple[int, int, int], text: str) -> None:
    field, step, row = origin
    if step < MAX_STEP:
        assert value_at(origin, text) < value_at((field, step + 1, row), text)


@pytest.mark.parametrize("text", ["boolean", "tinyint", "smallint", "char(2)", "varchar(1)"])
def test_small_values_of_two_neighbouring_fields_have_other_patterns_over_four_rows(
    text: str,
) -> None:
    def pattern(field_id: int) -> list[Value]:
        return [value_at((field_id, 1, row), text) for row in (1, 2, 3, 4)]

    for field_id in range(1, MAX_FIELD):
        assert pattern(field_id) != pattern(field_id + 1)
        assert len(set(pattern(field_id))) > 1


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_value_of_each_plain_type_is_of_its_type_and_is_kept_in_json(name: str) -> None:
    value = value_at((1, 1, 1), name)
    assert same(convert(value, parse_type(name)), value)
    assert same(from_json(to_json(value)), value)
