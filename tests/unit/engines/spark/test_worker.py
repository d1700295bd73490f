"""The worker that holds a JVM, where it needs none."""

from __future__ import annotations

import datetime
import json
import math
import os
import sys
from dataclasses import dataclass
from decimal import Decimal

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkRuntimeError, PySparkTypeError
from pyspark.sql import Row
from pyspark.sql import types as spark

from harness.engines.spark import worker
from harness.engines.spark.values import as_declared
from harness.model.canonical import MapValue, Value, from_json, same, single, to_json


def lost() -> Exception:
    """Return what Py4J raises when the JVM is gone: with its cause it is many lines."""
    problem: Exception = Py4JNetworkError("nobody is there")
    problem.__cause__ = ConnectionRefusedError("refused")
    return problem


def test_what_a_jvm_said_last_stays_at_the_end_of_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        worker._problem(lost())
    assert ended.value.code == 1
    assert capsys.readouterr().err == "py4j.protocol.Py4JNetworkError: nobody is there\n"


@dataclass
class Thrown:
    """A Java throwable, as far as it is asked."""

    name: str
    message: str | None
    cause: Thrown | None = None

    def getClass(self) -> Thrown:  # noqa: N802 - Java's name
        return self

    def getName(self) -> str:  # noqa: N802 - Java's name
        return self.name

    def getMessage(self) -> str | None:  # noqa: N802 - Java's name
        return self.message

    def getCause(self) -> Thrown | None:  # noqa: N802 - Java's name
        return self.cause


class Captured(Exception):
    """As PySpark wraps the classes it knows."""

    def __init__(self, origin: Thrown) -> None:
        super().__init__()
        self._origin = origin

    def getErrorClass(self) -> str:  # noqa: N802 - Spark's name
        return "SOME_CLASS"


class Py4JJava(Exception):
    """As Py4J wraps the others."""

    def __init__(self, exception: Thrown) -> None:
        super().__init__()
        self.java_exception = exception


def stopping(message: str, cause: Thrown | None = None) -> Captured:
    return Captured(Thrown("java.lang.IllegalStateException", message, cause))


@pytest.mark.parametrize(
    "problem",
    [
        stopping("Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was"),
        stopping("Failed", Thrown("x.Y", "Job 7 cancelled because SparkContext was shut down")),
    ],
    ids=["before", "within"],
)
def test_what_spark_says_of_a_statement_while_it_stops_is_no_answer(
    problem: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit):
        worker._problem(problem)


INNER = Thrown("java.io.IOException", "disk on fire")
LOOP = Thrown("x.Loop", "again")
LOOP.cause = LOOP
LACKING = type("NoSuchMethodError", (Exception,), {"__module__": "write_client"})("no method x")


@pytest.mark.parametrize(
    ("problem", "kind", "message", "cause"),
    [
        (
            Captured(Thrown("a.Outer", "job aborted", Thrown("x.Mid", None, INNER))),
            "a.Outer",
            "job aborted",
            "java.io.IOException: disk on fire",
        ),
        (Py4JJava(LOOP), "x.Loop", "again", "x.Loop: again"),
        (
            Py4JJava(Thrown("x.Y", "Job aborted: boo\n\tat a.B(C.java:1)\n\nDriver stacktrace:")),
            "x.Y",
            "Job aborted: boo",
            "",
        ),
        (
            PySparkTypeError("not a column"),
            "pyspark.errors.exceptions.base.PySparkTypeError",
            "not a column",
            "",
        ),
        (LACKING, "write_client.NoSuchMethodError", "no method x", ""),
    ],
    ids=["causes", "a circle of causes", "a stack trace", "PySpark's own", "no such method"],
)
def test_a_refusal_has_what_was_thrown_and_its_innermost_cause(
    problem: Exception, kind: str, message: str, cause: str
) -> None:
    code = "SOME_CLASS" if isinstance(problem, Captured) else ""
    expected = {"kind": kind, "message": message, "code": code, "cause": cause}
    assert worker.refusal(problem) == expected


def test_an_error_of_the_worker_itself_is_no_refusal() -> None:
    assert worker.refusal(KeyError("x")) is None


def test_a_lost_connection_to_the_jvm_is_no_answer() -> None:
    assert worker.is_lost(Py4JNetworkError("gone"))
    assert worker.is_lost(ConnectionRefusedError())
    never = PySparkRuntimeError(error_class="JAVA_GATEWAY_EXITED", message_parameters={})
    assert worker.is_lost(never)
    assert not worker.is_lost(Py4JJava(Thrown("x.Y", "no")))


def canonical(value: object, type_: spark.DataType) -> Value:
    result = from_json(json.loads(json.dumps(worker.form(value, type_))))
    assert from_json(to_json(result)) == result or result != result  # noqa: PLR0124 - NaN
    return result


def test_plain_values_stay_what_they_are() -> None:
    when = datetime.datetime(2024, 2, 29, 1, 2, 3, 500000)  # noqa: DTZ001 - canonical has no zone
    for value, type_ in (
        (7, spark.LongType()),
        (True, spark.BooleanType()),
        (Decimal("1.10"), spark.DecimalType(10, 2)),
        (datetime.date(2024, 2, 29), spark.DateType()),
        (when, spark.TimestampType()),
        ("x", spark.StringType()),
        (None, spark.StructType([])),
    ):
        result = canonical(value, type_)
        assert result == value
        assert type(result) is type(value)


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


class VariantVal:
    """A variant as PySpark 4 hands it over."""

    def toJson(self) -> str:  # noqa: N802 - PySpark's name
        return "[1.50]"


def test_a_variant_is_sent_as_its_json() -> None:
    assert canonical(VariantVal(), spark.StringType()) == "[1.50]"


@pytest.mark.parametrize(
    ("sent", "shown"),
    [('{"b":1.50,"a":null}', '{"a":null,"b":1.5}'), ("NaN", "NaN"), (None, None)],
)
def test_a_variant_has_the_form_in_which_they_are_compared(
    sent: str | None, shown: str | None
) -> None:
    assert as_declared(sent, "variant") == shown
    assert as_declared(sent, "string") == sent


def test_so_have_decimals_in_what_has_parts() -> None:
    small, text = Decimal("1.00E-7"), "struct<a:decimal(9,7),m:map<string,array<decimal(9,7)>>>"
    result = as_declared({"a": small, "m": MapValue((("k", (small, None)),))}, text)
    assert repr(result) == repr(
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


@pytest.mark.parametrize("value", [0.1, 503002.1, 3.4028234663852886e38, 1e-45, -0.0, math.inf])
def test_a_32_bit_float_is_exactly_the_number_that_spark_gives(value: float) -> None:
    assert same(canonical(single(value), spark.FloatType()), single(value))
