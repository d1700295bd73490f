"""Values as PySpark gives them; no JVM is needed for its types."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal

import pytest
from pyspark.sql import Row
from pyspark.sql import types as spark

from harness.engines.spark import worker
from harness.engines.spark.values import as_declared
from harness.model.canonical import MapValue, Value, from_json, same, single, to_json


def canonical(value: object, type_: spark.DataType) -> Value:
    """Return what comes of a value that the worker sends."""
    found = from_json(json.loads(json.dumps(worker.form(value, type_))))
    assert from_json(to_json(found)) == found or found != found  # noqa: PLR0124 - NaN
    return found


def test_null_is_none_in_every_type() -> None:
    assert canonical(None, spark.StructType([])) is None


def test_plain_values_stay_what_they_are() -> None:
    when = datetime.datetime(2024, 2, 29, 1, 2, 3, 500000)  # noqa: DTZ001 - canonical has no zone
    for value, type_ in (
        (7, spark.LongType()),
        (True, spark.BooleanType()),
        (Decimal("1.10"), spark.DecimalType(10, 2)),
        (datetime.date(2024, 2, 29), spark.DateType()),
        (when, spark.TimestampType()),
        ("x", spark.StringType()),
    ):
        found = canonical(value, type_)
        assert found == value
        assert type(found) is type(value)


@pytest.mark.parametrize(
    ("sent", "type_", "shown"),
    [
        ("-1.00E-10", "decimal(38,10)", "-1E-10"),  # as Java's `toEngineeringString` writes it
        ("1.00E-10", "decimal(38,12)", "1.00E-10"),
        ("1.5", "decimal(38,2)", "1.5"),
        ("1.25", "decimal(38,1)", "1.25"),  # another value is never made
        ("1.00E-10", "double", "1.00E-10"),
    ],
)
def test_a_decimal_has_no_more_places_than_its_type(sent: str, type_: str, shown: str) -> None:
    assert str(as_declared(Decimal(sent), type_)) == shown


def test_so_have_decimals_in_what_has_parts() -> None:
    small, text = Decimal("1.00E-7"), "struct<a:decimal(9,7),m:map<string,array<decimal(9,7)>>>"
    found = as_declared({"a": small, "m": MapValue((("k", (small, None)),))}, text)
    assert repr(found) == repr(
        {"a": Decimal("1E-7"), "m": MapValue((("k", (Decimal("1E-7"), None)),))}
    )


def test_a_struct_is_a_dict_in_the_order_of_its_type() -> None:
    inner = spark.StructType([spark.StructField("x", spark.IntegerType())])
    outer = spark.StructType(
        [spark.StructField("b", spark.StringType()), spark.StructField("a", inner)]
    )
    value = canonical(Row("b", "a")("t", Row("x")(1)), outer)
    assert value == {"b": "t", "a": {"x": 1}}
    assert list(value) == ["b", "a"]


def test_arrays_are_tuples_and_maps_are_equal_in_any_order() -> None:
    assert canonical([1, None], spark.ArrayType(spark.IntegerType())) == (1, None)
    type_ = spark.MapType(spark.StringType(), spark.IntegerType())
    assert canonical({"b": 2, "a": 1}, type_) == MapValue((("a", 1), ("b", 2)))


def test_binary_is_bytes() -> None:
    assert canonical(bytearray(b"\x00\xff"), spark.BinaryType()) == b"\x00\xff"


@pytest.mark.parametrize("value", [0.1, 503002.1, 3.4028234663852886e38, 1e-45, -0.0, math.inf])
def test_a_32_bit_float_is_exactly_the_number_that_spark_gives(value: float) -> None:
    assert same(canonical(single(value), spark.FloatType()), single(value))
