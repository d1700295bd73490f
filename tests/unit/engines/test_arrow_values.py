"""Arrow's types and values in canonical form."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pyarrow as pa
import pytest

from harness.engines.arrow_values import array_of, canonical, canonical_type, variant, variant_text
from harness.model.canonical import MapValue, Value, same

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
    [pa.uint64(), pa.list_(pa.uint8()), pa.struct([("a", pa.time32("s"))]), pa.null()],
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
