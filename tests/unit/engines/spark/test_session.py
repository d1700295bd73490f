"""What a session reports when Spark's process ends; the worker is simulated."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.spark import session
from harness.engines.spark.session import Spark

STOPPING = {"kind": "X", "message": "a SparkContext that stops", "code": "", "cause": ""}


@pytest.fixture
def ends() -> Iterator[tuple[Spark, socket.socket]]:
    here, there = socket.socketpair()
    process: Any = SimpleNamespace(
        alive=lambda: True, log_tail=lambda: "the log", peak_memory_mb=lambda: 0
    )
    with here, there:
        yield Spark(process, here), there


def asked(threads: ThreadPoolExecutor, spark: Spark, there: socket.socket) -> Future[Any]:
    """Ask in a thread; give its reply to come once the worker has the question."""
    reply = threads.submit(spark.ask, 30.0, do="run", session="s", sql="insert")
    assert json.loads(there.recv(1000))["sql"] == "insert"
    return reply


def say(there: socket.socket, **reply: object) -> None:
    there.sendall(json.dumps(reply).encode() + b"\n")


def test_what_spark_says_while_it_runs_is_an_answer(ends: tuple[Spark, socket.socket]) -> None:
    spark, there = ends
    with ThreadPoolExecutor(1) as threads:
        reply = asked(threads, spark, there)
        say(there, id=1, error=STOPPING)
        with pytest.raises(RefusedError, match="a SparkContext that stops"):
            reply.result(30)


def test_what_it_says_once_it_is_to_end_is_none(
    ends: tuple[Spark, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    spark, there = ends
    waited = Waited(there)
    monkeypatch.setattr(spark.running, "wait", waited.wait, raising=False)
    with ThreadPoolExecutor(1) as threads:
        reply = asked(threads, spark, there)
        spark.end()
        with pytest.raises(NoAnswerError, match="was ended while it was asked"):
            reply.result(30)
    assert waited.times == 1
    with pytest.raises(NoAnswerError):
        spark.ask(1.0, do="run")


class Waited:
    """A process that answers as long as somebody waits for its end."""

    def __init__(self, there: socket.socket) -> None:
        self.times = 0
        self._there = there

    def wait(self, timeout_s: float) -> None:
        self.times += 1
        say(self._there, id=1, error=STOPPING)


def test_the_end_of_the_connection_is_reported_with_the_log(
    ends: tuple[Spark, socket.socket],
) -> None:
    spark, there = ends
    with ThreadPoolExecutor(1) as threads:
        reply = asked(threads, spark, there)
        there.shutdown(socket.SHUT_RDWR)
        with pytest.raises(NoAnswerError, match=r"the Spark process ended; .*\nthe log"):
            reply.result(30)


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
    assert session.with_logged_cause(refusal, event(NULLS) + PLAIN) == replace(refusal, cause=NULLS)


def test_of_several_causes_none_is_claimed() -> None:
    refusal = session.with_logged_cause(FAILED, event(NULLS) + event(OTHER))
    assert refusal.cause == f"one or more of: {NULLS}; {OTHER}"


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
    assert session.with_logged_cause(FAILED, log) == FAILED


@pytest.mark.parametrize(
    "refusal", [replace(FAILED, cause="x.Y: known"), replace(FAILED, message="No such column")]
)
def test_a_refusal_that_says_something_is_left_alone(refusal: Refusal) -> None:
    assert session.with_logged_cause(refusal, event(NULLS)) == refusal


class Refusing:
    """A JVM that refuses, and logs something before it is asked and something after."""

    def __init__(self) -> None:
        self.log = event(OTHER)
        self.running = self

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
