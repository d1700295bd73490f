"""The worker that holds a JVM, where it needs none."""

from __future__ import annotations

import os
import sys
from unittest.mock import Mock

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from harness.engines.spark import worker


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


def test_what_a_jvm_said_while_it_starts_stays_there_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", Mock(side_effect=lost()))
    with pytest.raises(SystemExit):
        worker._start({})
    assert capsys.readouterr().err == "py4j.protocol.Py4JNetworkError: nobody is there\n"


class Stopping(Exception):
    """What PySpark raises of an error in the JVM."""

    def __init__(self, message: str, cause: Stopping | None = None) -> None:
        super().__init__(message)
        self._origin = self
        self._cause = cause

    def getCause(self) -> Stopping | None:  # noqa: N802 - as Java has it
        return self._cause

    def getClass(self) -> Stopping:  # noqa: N802 - as Java has it
        return self

    def getName(self) -> str:  # noqa: N802 - as Java has it
        return "java.lang.IllegalStateException"

    def getMessage(self) -> str:  # noqa: N802 - as Java has it
        return str(self)


@pytest.mark.parametrize(
    "problem",
    [
        Stopping("Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was"),
        Stopping("Failed", Stopping("Job 7 cancelled because SparkContext was shut down")),
    ],
    ids=["before", "within"],
)
def test_what_spark_says_of_a_statement_while_it_stops_is_no_answer(
    problem: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit):
        worker._problem(problem)


def test_any_other_error_is_told() -> None:
    assert worker._problem(Stopping("no such column"))["error"]["message"] == "no such column"
