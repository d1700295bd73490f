"""Refusals out of exceptions; stand-ins for Py4J's objects, which need a JVM."""

from __future__ import annotations

from dataclasses import dataclass

from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkRuntimeError, PySparkTypeError

from harness.engines.spark import worker as errors


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


def test_the_innermost_cause_is_told_beside_what_was_thrown() -> None:
    inner = Thrown("java.io.IOException", "disk on fire")
    outer = Thrown("org.apache.spark.SparkException", "job aborted", Thrown("x.Mid", None, inner))
    assert errors.refusal(Captured(outer)) == {
        "kind": "org.apache.spark.SparkException",
        "message": "job aborted",
        "code": "SOME_CLASS",
        "cause": "java.io.IOException: disk on fire",
    }


def test_what_has_no_cause_names_none() -> None:
    found = errors.refusal(Py4JJava(Thrown("java.lang.IllegalArgumentException", "no")))
    assert found == {
        "kind": "java.lang.IllegalArgumentException", "message": "no", "code": "", "cause": "",
    }  # fmt: skip


def test_a_circle_of_causes_ends() -> None:
    thrown = Thrown("x.Loop", "again")
    thrown.cause = thrown
    found = errors.refusal(Py4JJava(thrown))
    assert found is not None
    assert found["cause"] == "x.Loop: again"


def test_the_stack_trace_that_spark_puts_into_messages_is_cut_off() -> None:
    message = (
        "Job aborted: java.lang.RuntimeException: boo\n\tat a.B(C.java:1)\n\nDriver stacktrace:"
    )
    found = errors.refusal(Py4JJava(Thrown("x.Y", message)))
    assert found is not None
    assert found["message"] == "Job aborted: java.lang.RuntimeException: boo"


def test_what_pyspark_itself_refuses_is_a_refusal_too() -> None:
    found = errors.refusal(PySparkTypeError("not a column"))
    assert found is not None
    assert found["kind"] == "pyspark.errors.exceptions.base.PySparkTypeError"


def test_a_method_that_a_client_lacks_is_a_refusal() -> None:
    problem = type("NoSuchMethodError", (Exception,), {"__module__": "write_client"})("no method x")
    found = errors.refusal(problem)
    assert found is not None
    assert (found["kind"], found["message"]) == ("write_client.NoSuchMethodError", "no method x")


def test_an_error_of_this_program_is_no_refusal() -> None:
    assert errors.refusal(KeyError("x")) is None


def test_a_lost_connection_to_the_jvm_is_no_answer() -> None:
    assert errors.is_lost(Py4JNetworkError("gone"))
    assert errors.is_lost(ConnectionRefusedError())
    assert not errors.is_lost(Py4JJava(Thrown("x.Y", "no")))


def test_a_jvm_that_was_never_there_gave_no_answer() -> None:
    assert errors.is_lost(
        PySparkRuntimeError(error_class="JAVA_GATEWAY_EXITED", message_parameters={})
    )
