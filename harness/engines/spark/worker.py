"""The child process that holds one Spark JVM: requests and replies are JSON lines on a socket.

`python -m harness.engines.spark.worker PORT`, with the first line to send in the variable
HARNESS_WORKER_TOKEN. The socket is used rather than standard output because the JVM and its
libraries write there whatever they like. The end of the connection ends the process and its JVM.

| request | reply |
| --- | --- |
| `{"id", "do": "start", "conf"}` | `{"id", "version"}` |
| `{"id", "do": "open", "session", "settings", "tell"}` | `{"id", "told"}`: the keys `tell` |
| `{"id", "do": "run", "session", "sql"}` | `{"id", "columns", "rows", "seconds"}` |
| `{"id", "do": "close", "session"}` | `{"id"}` |

Instead of its reply a request may get `{"id", "error": {…}, "seconds"}`, when Spark answered with
an error, or `{"id", "broke": text}`, when this program failed.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, Final

from harness.engines.spark import errors, row_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOKEN: Final = "HARNESS_WORKER_TOKEN"  # noqa: S105 - the name of a variable
JVM_END_S: Final = 2.0
Message = dict[str, Any]
"""A request or a reply, as the module's docstring lists them."""


class Replies:
    """The way back, shared by the threads of all sessions."""

    def __init__(self, connection: socket.socket) -> None:
        """`connection`: to the process that asks."""
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, reply: Message) -> None:
        """Send one reply whole."""
        line = json.dumps(reply, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._connection.sendall(line)


class WorkerSession:
    """One Spark session and the thread that serves it, one request after another."""

    def __init__(self, spark: SparkSession, settings: dict[str, str], replies: Replies) -> None:
        """`settings`: set in the session before its first statement."""
        self._spark = spark
        self._replies = replies
        self._requests: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        for name, value in settings.items():
            spark.conf.set(name, value)
        threading.Thread(target=self._serve, daemon=True).start()

    def told(self, names: list[str]) -> dict[str, str]:
        """Return the value of each setting as the session holds it."""
        return {name: self._value(name) for name in names}

    def _value(self, name: str) -> str:
        # Not with a default of ours: Spark would prefer it to its own.
        try:
            return str(self._spark.conf.get(name))
        except Exception as problem:
            if errors.refusal(problem) is None:
                raise
            return "unset"

    def put(self, request: Message | None) -> None:
        """Queue a request; None ends the thread."""
        self._requests.put(request)

    def _serve(self) -> None:
        while (request := self._requests.get()) is not None:
            self._replies.send({"id": request["id"], **self._answer(request["sql"])})

    def _answer(self, sql: str) -> Message:
        began = time.monotonic()
        try:
            answer: Message = row_values.collect(self._spark.sql(sql))
        except Exception as problem:  # noqa: BLE001 - Spark answers with exceptions of many kinds
            answer = _problem(problem)
        return {**answer, "seconds": round(time.monotonic() - began, 6)}


class Worker:
    """The sessions of one JVM."""

    def __init__(self, replies: Replies) -> None:
        """`replies`: where answers go."""
        self._replies = replies
        self._sessions: dict[str, WorkerSession] = {}
        self._spark: SparkSession | None = None

    def handle(self, request: Message) -> None:
        """Serve a request, or give it to its session's thread."""
        if request["do"] == "run":
            self._sessions[request["session"]].put(request)
            return
        try:
            reply = self._do(request)
        except Exception as problem:  # noqa: BLE001 - as above
            reply = _problem(problem)
        self._replies.send({"id": request["id"], **reply})

    def _do(self, request: Message) -> Message:
        match request["do"]:
            case "start":
                self._spark = _start(request["conf"])
                return {"version": self._spark.version}
            case "open" if self._spark is not None:
                spark, settings = self._spark.newSession(), request["settings"]
                session = WorkerSession(spark, settings, self._replies)
                self._sessions[request["session"]] = session
                return {"told": session.told(request["tell"])}
            case "close":
                self._sessions.pop(request["session"]).put(None)
                return {}
        raise ValueError(f"no such request now: {request}")

    def stop(self) -> None:
        """End the JVM and wait for it; its own shutdown hook ends at the end of its input."""
        if self._spark is not None:
            jvm = _jvm()
            if jvm.stdin is not None:
                jvm.stdin.close()
            jvm.wait(timeout=20)


def _start(conf: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only this process needs it

    builder = SparkSession.builder.master("local[2]").appName("harness").enableHiveSupport()
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _jvm() -> subprocess.Popen[bytes]:
    from pyspark import SparkContext  # noqa: PLC0415 - only this process needs it

    found: subprocess.Popen[bytes] = SparkContext._gateway.proc  # type: ignore[union-attr] # noqa: SLF001
    return found


def _problem(problem: Exception) -> Message:
    try:
        refusal = None if errors.is_lost(problem) else errors.refusal(problem)
    except Exception as second:  # noqa: BLE001 - the JVM went while it was asked what it threw
        problem, refusal = second, None
    stops = refusal is not None and errors.is_stopped(refusal)
    if refusal is not None and not stops:
        return {"error": refusal}
    if stops or errors.is_lost(problem) or _jvm_ended():
        # This is no answer, and nothing can be asked any more. It is told in few lines: before
        # them stands what the JVM said last, which must not leave the end of the log.
        sys.stderr.write("".join(traceback.format_exception_only(problem)))
        sys.stderr.flush()
        os._exit(1)
    return {"broke": "".join(traceback.format_exception(problem))}


def _jvm_ended() -> bool:
    # Py4J says in many ways that the JVM does not answer, some before its process is gone.
    try:
        _jvm().wait(timeout=JVM_END_S)
    except (subprocess.TimeoutExpired, AttributeError):
        return False
    return True


def main() -> None:
    """Connect, prove who this is, and serve until the connection ends."""
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        connection.sendall(os.environ.pop(TOKEN).encode() + b"\n")
        worker = Worker(Replies(connection))
        with connection.makefile("r", encoding="utf-8") as requests:
            for line in requests:
                worker.handle(json.loads(line))
        worker.stop()


if __name__ == "__main__":
    main()
