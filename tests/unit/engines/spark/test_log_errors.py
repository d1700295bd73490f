"""What the log of a process tells of a write that Hudi refused without a cause."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from harness.core.records import Refusal
from harness.engines.api import RefusedError
from harness.engines.spark import session

FAILED = Refusal("org.apache.hudi.exception.HoodieException", "Insert Into to Hudi table failed")
NULLS = (
    "java.lang.NullPointerException: Array contains a null element at 0. Set "
    "parquet.avro.write-old-list-structure=false to turn on support for arrays with null elements."
)
OTHER = "java.lang.ClassCastException: optional binary address (STRING) is not a group"


def event(thrown: str, *, who: str = "ERROR HoodieCreateHandle: Error writing record") -> str:
    """As Log4j prints it with Spark's own layout."""
    return (
        f"26/11/22 10:00:01 {who} HoodieRecord{{key=HoodieKey {{ recordKey=1 partitionPath=}}}}\n"
        f"{thrown}\n"
        "\tat org.apache.hudi.io.HoodieCreateHandle.doWrite(HoodieCreateHandle.java:147)\n"
        "\t... 31 more\n"
    )


PLAIN = "26/11/22 10:00:02 ERROR HoodieSparkSqlWriterInternal: upsert failed with errors\n"


@pytest.mark.parametrize("message", sorted(session.SAYS_NOTHING))
def test_the_cause_is_what_was_logged_of_a_record(message: str) -> None:
    refusal = replace(FAILED, message=message)
    assert session.explained(refusal, event(NULLS) + PLAIN) == replace(refusal, cause=NULLS)


def test_the_innermost_of_a_chain_is_the_cause() -> None:
    chain = f"org.apache.hudi.exception.HoodieException: no\n\tat a.B\nCaused by: {NULLS}"
    assert session.explained(FAILED, event(chain)).cause == NULLS


def test_the_same_of_several_records_is_said_once() -> None:
    assert session.explained(FAILED, event(NULLS) * 3).cause == NULLS


def test_of_several_causes_none_is_claimed() -> None:
    found = session.explained(FAILED, event(NULLS) + event(OTHER))
    assert found.cause == f"one or more of: {NULLS}; {OTHER}"


@pytest.mark.parametrize(
    "log",
    [
        "",
        PLAIN,
        event(NULLS, who="WARN HoodieCreateHandle: Error writing record"),
        event(NULLS, who="ERROR Executor: Exception in task 0.0 in stage 3.0"),
        event("") + event(NULLS, who="ERROR Executor: Exception in task 0.0"),
    ],
)
def test_what_is_logged_of_something_else_is_no_cause(log: str) -> None:
    assert session.explained(FAILED, log) == FAILED


@pytest.mark.parametrize(
    "refusal",
    [replace(FAILED, cause="x.Y: known"), replace(FAILED, message="No such column")],
)
def test_a_refusal_that_says_something_is_left_alone(refusal: Refusal) -> None:
    assert session.explained(refusal, event(NULLS)) == refusal


class Refusing:
    """A JVM that refuses, and logs something before it is asked and something after."""

    def __init__(self) -> None:
        self.log = event(OTHER)

    def log_size(self) -> int:
        return len(self.log)

    def log_since(self, start: int) -> str:
        return self.log[start:]

    def ask(self, _timeout_s: float, **_request: object) -> dict[str, Any]:
        self.log += event(NULLS)
        raise RefusedError(FAILED, 0.5)


def test_only_what_is_logged_since_the_statement_counts() -> None:
    one = session.Session(cast("session.Spark", Refusing()), "s1", {})
    with pytest.raises(RefusedError) as refused:
        one.run("insert", timeout_s=1)
    assert refused.value.refusal == replace(FAILED, cause=NULLS)
    assert refused.value.seconds == 0.5
