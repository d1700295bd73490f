"""Arrow's types and values in canonical form."""

import datetime
import decimal
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engines.arrow_values import array_of, canonical, canonical_type, variant, variant_text
from harness.engines.java_floats import is_printed, number_of
from harness.model.canonical import MapValue, Value, same, single

DAY = datetime.date(2024, 2, 29)
AT = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - canonical: no zone
AT_IN_UTC = AT.replace(tzinfo=datetime.UTC)
UTC = pa.timestamp("us", "UTC")

CASES: list[tuple[pa.DataType, Any, str, Value]] = [
    (pa.bool_(), True, "boolean", True),
    (pa.int8(), -7, "tinyint", -7),
    (pa.int16(), 300, "smallint", 300),
    (pa.int64(), 2**53 + 1, "long", 2**53 + 1),
    (pa.float32(), 0.1, "float", 0.10000000149011612),
    (pa.float64(), float("nan"), "double", float("nan")),
    (pa.string_view(), "é", "string", "é"),
    (pa.large_binary(), b"\x00", "binary", b"\x00"),
    (pa.decimal128(38, 2), decimal.Decimal("1.10"), "decimal(38, 2)", decimal.Decimal("1.10")),
    (pa.date32(), DAY, "date", DAY),
    (UTC, AT_IN_UTC, "timestamp", AT),
    (pa.timestamp("us"), AT, "timestamp_ntz", AT),
    (pa.timestamp("ns"), AT, "timestamp_ntz", AT),
    (
        pa.struct([("at", UTC), ("n", pa.int32())]),
        {"at": AT_IN_UTC, "n": None},
        "struct<at: timestamp, n: int>",
        {"at": AT, "n": None},
    ),
    (pa.list_(pa.date32()), [DAY, None], "array<date>", (DAY, None)),
    (pa.list_(pa.timestamp("us", "Asia/Tokyo")), [AT_IN_UTC], "array<timestamp>", (AT,)),
    (
        pa.map_(pa.string(), pa.list_(pa.int32())),
        [("b", [1]), ("a", None)],
        "map<string, array<int>>",
        MapValue((("a", None), ("b", (1,)))),
    ),
]


@pytest.mark.parametrize(("type_", "given", "name", "value"), CASES, ids=str)
def test_a_value_and_its_type_are_as_they_were_written(
    type_: pa.DataType, given: object, name: str, value: Value
) -> None:
    assert canonical_type(type_) == name
    scalar = pa.array([given, None], type_)
    assert same(canonical(scalar[0]), value)
    assert canonical(scalar[1]) is None


@pytest.mark.parametrize(
    "type_",
    [pa.uint64(), pa.list_(pa.uint8()), pa.struct([("a", pa.time32("s"))])],
    ids=str,
)
def test_a_type_that_is_none_of_ours_has_no_name(type_: pa.DataType) -> None:
    assert canonical_type(type_) == ""


def test_what_is_finer_than_a_microsecond_or_in_no_year_of_pythons_is_a_text() -> None:
    fine = pa.array([1_704_164_645_000_000_001], pa.int64()).cast(pa.timestamp("ns"))
    assert canonical(fine[0]) == "2024-01-02 03:04:05.000000001"
    late = pa.array([2**62], pa.int64()).cast(pa.timestamp("us"))
    assert canonical(late[0]) == str(2**62)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.uuid(), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        (pa.time64("us"), "01:02:03.000004"),
        (pa.timestamp("ns"), "2024-01-02 03:04:05.678901002"),
        (pa.timestamp("ns", "UTC"), "2024-01-02 03:04:05.678901002"),
        (pa.struct([("u", pa.uuid())]), {"u": "00010203-0405-0607-0809-0a0b0c0d0e0f"}),
        (pa.list_(pa.time64("us")), ("01:02:03.000004", None)),
        (pa.map_(pa.string(), pa.uuid()), MapValue((("k", None),))),
    ],
    ids=str,
)
def test_what_python_has_no_value_of_goes_through_arrow_as_a_text(
    type_: pa.DataType, value: Value
) -> None:
    assert canonical(array_of([value], type_)[0]) == value


def test_a_variant_goes_through_arrow_with_all_its_types() -> None:
    value = {"t": "decimal4", "v": decimal.Decimal("1.10")}
    stored = pa.array([variant_text(value), None], pa.string()).cast(variant())
    assert [canonical(scalar) for scalar in stored] == [value, None]


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
