import datetime
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.canonical import MapValue, Value, from_json, moment, same, text_of, to_json
from harness.model.conversion import convert
from harness.model.datatypes import PRIMITIVES, DataType, parse_type
from harness.model.schema import Field, number
from harness.model.values import MAX_FIELD, MAX_ROW, MAX_STEP, never_null

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
        ('{"b": [1.50, -0.0], "a": {"é": 1e2}}', "variant", '{"a":{"é":100},"b":[1.5,0]}'),
        ("null", "variant", "null"),
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
        (1, "variant", "its JSON as quoted text"),
        ("[1", "variant", "its JSON as quoted text"),
        ("[" * 100_000, "variant", "its JSON as quoted text"),
        ('{"a": 1, "a": 2}', "variant", "its JSON as quoted text"),
        ("[NaN, 1e9999]", "variant", "its JSON as quoted text"),
        ("1e9999", "variant", "its JSON as quoted text"),
    ],
)
def test_who_gave_another_value_is_told_how_to_write_one(
    value: Value, to: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        convert(value, parse_type(to))


PLACES = st.tuples(st.integers(1, MAX_FIELD), st.integers(0, MAX_STEP), st.integers(1, MAX_ROW))
TRACEABLE = [
    *("int", "long", "float", "double", "decimal(9, 2)", "string", "date", "timestamp"),
    *("timestamp_ntz", "binary", "variant", "varchar(9)", "char(9)"),
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
