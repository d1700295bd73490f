"""What whoever asks Spark is told when its process is ended; the worker is simulated."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.spark.session import Session, Spark

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


def test_a_dataframe_is_a_query_with_what_its_writer_is_told(
    ends: tuple[Spark, socket.socket],
) -> None:
    spark, there = ends
    spark._running.log_size = lambda: 0  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as threads:
        session = Session(spark, "s", {})
        reply = threads.submit(session.append, "select 1", "hudi", {"a": "b"}, "/t", timeout_s=30)
        request = json.loads(there.recv(1000))
        say(there, id=1, columns=[], rows=[], seconds=0.1)
        reply.result(30)
    assert request["sql"] == "select 1"
    assert request["append"] == {"format": "hudi", "options": {"a": "b", "path": "/t"}}


def test_what_it_says_once_it_is_to_end_is_none(
    ends: tuple[Spark, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    spark, there = ends
    waited = Waited(there)
    monkeypatch.setattr(spark._running, "wait", waited.wait, raising=False)
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


def test_the_end_of_the_connection_is_told_with_the_log(ends: tuple[Spark, socket.socket]) -> None:
    spark, there = ends
    with ThreadPoolExecutor(1) as threads:
        reply = asked(threads, spark, there)
        there.shutdown(socket.SHUT_RDWR)
        with pytest.raises(NoAnswerError, match=r"the Spark process ended; .*\nthe log"):
            reply.result(30)
