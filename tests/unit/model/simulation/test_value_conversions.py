"""Values that are taken as stored for those of another type: the number, or the bytes, stay."""

import datetime
from decimal import Decimal

import pytest

from harness.model.canonical import MapValue, Value, same
from harness.model.datatypes import DataType, Primitive, parse_type
from harness.model.simulation.value_conversions import (
    cast_differs,
    cast_value,
    converted_differs,
    converted_value,
    cut,
    finer,
    stored_differs,
    stored_value,
)

DAY = datetime.date(1970, 1, 11)
NOON = datetime.datetime(1970, 1, 1, 12)  # noqa: DTZ001 - canonical timestamps have no zone


@pytest.mark.parametrize(
    ("value", "source", "to", "expected"),
    [
        (10, "int", "date", DAY),
        (0x40500000, "int", "float", 3.25),
        (43_200_000_000, "long", "timestamp", NOON),
        (1234, "int", "decimal(12, 2)", Decimal("12.34")),
        (-719_163, "int", "date", "0000-12-31"),
        (2_932_897, "int", "date", "+10000-01-01"),
        (3.4028234663852886e38, "float", "date", "+5858613-04-19"),
        (DAY, "date", "int", 10),
        (DAY, "date", "decimal(4, 1)", Decimal("1.0")),
        (DAY, "date", "timestamp", datetime.datetime(1970, 1, 1, 0, 0, 0, 10)),  # noqa: DTZ001
        (3.25, "float", "long", 0x40500000),
        (NOON, "timestamp", "long", 43_200_000_000),
        ("é", "string", "binary", b"\xc3\xa9"),
        (b"abc", "binary", "string", "abc"),
    ],
)
def test_the_number_or_the_bytes_stay(value: Value, source: str, to: str, expected: Value) -> None:
    assert stored_differs(parse_type(source), parse_type(to))
    shown = stored_value(value, parse_type(to))
    assert (type(shown), shown) == (type(expected), expected)


@pytest.mark.parametrize(
    ("value", "to"), [(2**31, "float"), (2**40, "date"), (1.5, "smallint"), (b"\xff", "string")]
)
def test_what_has_no_such_value_is_none(value: Value, to: str) -> None:
    with pytest.raises(ValueError, match="as it is stored"):
        stored_value(value, parse_type(to))


@pytest.mark.parametrize(
    ("source", "to"),
    [
        ("int", "int"),
        ("int", "long"),
        ("int", "double"),
        ("boolean", "int"),
        ("int", "string"),
        ("timestamp", "int"),
        ("int", "decimal(19, 2)"),
        ("array<int>", "date"),
    ],
)
def test_of_other_pairs_of_types_nothing_is_reported(source: str, to: str) -> None:
    assert not stored_differs(parse_type(source), parse_type(to))


INT, LONG, TEXT = Primitive("int"), Primitive("long"), Primitive("string")
DOUBLE, FLOAT, DECIMAL = map(parse_type, ("double", "float", "decimal(10, 2)"))


@pytest.mark.parametrize("to", [INT, DOUBLE, DECIMAL])
@pytest.mark.parametrize("text", ["f3s1r1", "", "--7", "1e", "nano"])
def test_a_text_that_is_no_number_is_cast_to_null(text: str, to: DataType) -> None:
    assert cast_value(text, to) is None


@pytest.mark.parametrize(
    ("text", "to", "number"), [("7", INT, 7), ("7.5", DOUBLE, 7.5), ("1e3", FLOAT, 1e3)]
)
def test_a_text_that_is_a_number_is_cast_to_it(text: str, to: DataType, number: float) -> None:
    assert cast_value(text, to) == number


@pytest.mark.parametrize(
    ("text", "to"),
    [
        *((text, INT) for text in ("7.5", "8000000000", " 7", "1.2.3")),
        *((text, DECIMAL) for text in ("1d", " NaN ", "-Infinity", "1.2.3")),
    ],
)
def test_nothing_is_reported_about_a_cast_without_an_exact_form(text: str, to: DataType) -> None:
    with pytest.raises(ValueError, match="no exact form"):
        cast_value(text, to)


def test_only_texts_under_numbers_may_become_null() -> None:
    assert all(cast_differs(TEXT, to) for to in (INT, LONG, DOUBLE, FLOAT, DECIMAL))
    assert not any(cast_differs(*pair) for pair in [(TEXT, TEXT), (INT, TEXT), (INT, LONG)])
    others = ("date", "boolean", "timestamp")
    assert not any(cast_differs(TEXT, Primitive(name)) for name in others)


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("stored", "left"),
    [
        ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999000"),
        ("1969-12-31 23:59:59.123456", "1969-12-31 23:59:59.124000"),
        ("0001-01-03 00:00:00.000001", "0001-01-03 00:00:00.001000"),
        ("1969-12-31 23:59:59.999999", "1970-01-01 00:00:00"),
    ],
)
def test_what_is_less_than_a_millisecond_is_cut_off_towards_1970(stored: str, left: str) -> None:
    assert cut(at(stored)) == at(left)
    assert finer(at(stored)) == (stored != left)
    assert not finer(at(left))


def test_timestamps_inside_of_others_are_cut_as_well() -> None:
    whole, left = at("2024-01-01 00:00:00.000001"), at("2024-01-01 00:00:00")
    nested: Value = {"a": (whole, 7), "b": MapValue.of([(whole, whole)])}
    assert finer(nested)
    assert cut(nested) == {"a": (left, 7), "b": MapValue.of([(left, left)])}


@pytest.mark.parametrize("value", [None, 7, "2024", datetime.date(2024, 1, 1), {"a": None}])
def test_other_values_stay_as_they_are(value: Value) -> None:
    assert cut(value) is value
    assert not finer(value)


@pytest.mark.parametrize(
    ("value", "source", "to", "shown"),
    [
        (301001, "int", "char(5)", "30100"),
        ("38369", "char(5)", "decimal(9, 2)", Decimal("38369.00")),
        ("f2s1r1", "string", "long", None),
        ("7", "string", "int", 7),
        ("7  ", "char(3)", "int", 7),
        ("1e3", "string", "double", 1000.0),
        (7, "int", "char(3)", "7  "),
        ("ab ", "char(3)", "string", "ab"),
        (40_000, "int", "smallint", None),
        (-2.5, "double", "int", -2),
        (float("nan"), "double", "int", None),
        (Decimal("12.345"), "decimal(5, 3)", "decimal(4, 2)", Decimal("12.35")),
        (Decimal("912.3"), "decimal(5, 1)", "decimal(3, 1)", None),
        (True, "boolean", "string", "TRUE"),
        (7, "int", "boolean", True),
        (0.1, "double", "float", 0.10000000149011612),
        ("2024-02-29", "string", "date", datetime.date(2024, 2, 29)),
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
        ("long", "int", True),
        ("int", "long", False),
        ("int", "string", False),
        ("timestamp", "string", False),
        ("struct<a: int>", "string", False),
    ],
)
def test_only_what_may_lose_something_makes_a_way(source: str, to: str, *, may: bool) -> None:
    assert converted_differs(parse_type(source), parse_type(to)) is may
