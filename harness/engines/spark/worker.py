"""The program that holds one Spark JVM: requests and replies are JSON lines on a socket.

`python worker.py HOST PORT CONF` starts Spark with the configuration in the JSON file CONF and
serves the first one that sends what stands in HARNESS_WORKER_TOKEN; it is answered `HELLO`. The end
of the connection ends the process and its JVM, which write to standard output whatever they like.

| request | reply |
| --- | --- |
| `{"id", "do": "open", "session", "settings", "tell"}` | `{"id", "reported"}`: the keys `tell` |
| `{"id", "do": "run", "session", "sql"}` | `{"id", "columns", "rows", "seconds"}` |
| the same with `"append": {"format", "options"}` | the same, after the rows were written so |
| `{"id", "do": "call", "session", "client", …}`, see the module | `{"id", "result", "seconds"}` |
| `{"id", "do": "close", "session"}` | `{"id"}` |

Instead of its reply a request may get `{"id", "error": {…}, "seconds"}`, when Spark answered with
an error, or `{"id", "broke": text}`, when this program failed. It imports the standard library,
PySpark and what is copied beside it, and runs on Python 3.8, in images of Spark.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import os
import queue
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

TOKEN: Final = "HARNESS_WORKER_TOKEN"  # noqa: S105 - the name of a variable
JVM_END_S: Final = 2.0
HELLO: Final = b"spark\n"
HELLO_S: Final = 5.0
"""How long somebody who connects may take to say the token."""
NEVER_THERE: Final = "JAVA_GATEWAY_EXITED"
"""PySpark's error class of a JVM that ended before it could be asked anything."""
STOPPED: Final = re.compile(r"stopped SparkContext|SparkContext (was|has been) shut ?down")
"""What Spark says while it stops (`SparkContext.assertNotStopped`, `DAGScheduler`)."""
MAX_CAUSES: Final = 50
"""A chain of causes longer than that is a circle."""
MAX_TEXT: Final = 4000
"""Spark repeats whole plans in messages; characters kept of each, without stack traces."""

Message = dict[str, Any]


class Replies:
    """The way back, shared by the threads of all sessions."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, reply: Message) -> None:
        line = json.dumps(reply, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._connection.sendall(line)


class WorkerSession:
    """One Spark session and the thread that serves it, one request after another."""

    def __init__(self, spark: SparkSession, settings: dict[str, str], replies: Replies) -> None:
        self._spark, self._settings, self._replies = spark, settings, replies
        self._requests: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        for name, value in settings.items():
            spark.conf.set(name, value)
        threading.Thread(target=self._serve, daemon=True).start()

    def value(self, name: str) -> str:
        try:
            return str(self._spark.conf.get(name))  # a default of ours it would prefer to its own
        except Exception as problem:
            if refusal(problem) is None:
                raise
            return "unset"

    def put(self, request: Message | None) -> None:
        self._requests.put(request)

    def _serve(self) -> None:
        while (request := self._requests.get()) is not None:
            began = time.monotonic()
            try:
                answer = self._done(request)
            except Exception as problem:  # noqa: BLE001 - Spark answers with exceptions of many kinds
                answer = _problem(problem)
            seconds = round(time.monotonic() - began, 6)
            self._replies.send({"id": request["id"], **answer, "seconds": seconds})

    def _done(self, request: Message) -> Message:
        if request["do"] == "call":
            client = import_module(request["client"])
            return {"result": client.call(self._spark, self._settings, request)}
        frame, to = self._spark.sql(request["sql"]), request.get("append")
        if to is not None:
            frame.write.format(to["format"]).options(**to["options"]).mode("append").save()
        return collect(frame)


class Worker:
    """The sessions of one JVM."""

    def __init__(self, spark: SparkSession, replies: Replies) -> None:
        self._replies = replies
        self._sessions: dict[str, WorkerSession] = {}
        self._spark = spark

    def handle(self, request: Message) -> None:
        """Serve a request, or give it to its session's thread."""
        if request["do"] in ("run", "call"):
            self._sessions[request["session"]].put(request)
            return
        try:
            reply = self._do(request)
        except Exception as problem:  # noqa: BLE001 - as above
            reply = _problem(problem)
        self._replies.send({"id": request["id"], **reply})

    def _do(self, request: Message) -> Message:
        if request["do"] == "open":
            session = WorkerSession(self._spark.newSession(), request["settings"], self._replies)
            self._sessions[request["session"]] = session
            return {"reported": {name: session.value(name) for name in request["tell"]}}
        if request["do"] == "close":
            self._sessions.pop(request["session"]).put(None)
            return {}
        raise ValueError(f"no such request now: {request}")

    def stop(self) -> None:
        """End the JVM and wait for it; its own shutdown hook ends at the end of its input."""
        jvm = _jvm()
        if jvm.stdin is not None:
            jvm.stdin.close()
        jvm.wait(timeout=20)


def _start(conf: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only this process needs it

    builder = SparkSession.builder.master("local[2]").appName("harness").enableHiveSupport()
    for name, value in conf.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as problem:
        _problem(problem)  # where the JVM is gone, this is the end
        raise


def _jvm() -> subprocess.Popen[bytes]:
    from pyspark import SparkContext  # noqa: PLC0415 - only this process needs it

    process: subprocess.Popen[bytes] = SparkContext._gateway.proc  # type: ignore[union-attr] # noqa: SLF001
    return process


def _problem(problem: Exception) -> Message:
    try:
        refused = None if is_lost(problem) else refusal(problem)
    except Exception as second:  # noqa: BLE001 - the JVM went while it was asked what it threw
        problem, refused = second, None
    # Then it says only that Spark stops, and nothing of the statement.
    stops = refused and STOPPED.search(f"{refused['message']} {refused['cause']}")
    if refused is not None and not stops:
        return {"error": refused}
    if stops or is_lost(problem) or _jvm_ended():
        # This is no answer, and nothing can be asked any more. It is reported in few lines: before
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


def is_lost(problem: Exception) -> bool:
    """Return whether there was no answer because the JVM is gone."""
    from py4j.protocol import Py4JNetworkError  # noqa: PLC0415 - as PySpark

    lost = isinstance(problem, (Py4JNetworkError, ConnectionError))
    return lost or _code(problem) == NEVER_THERE


def refusal(problem: Exception) -> dict[str, str] | None:
    """Return kind, message, code and innermost cause; None when Spark did not raise it."""
    thrown = getattr(problem, "java_exception", None) or getattr(problem, "_origin", None)
    if thrown is None:
        # Checks that PySpark, or our call of a client, makes itself, before it asks the JVM.
        kind = f"{type(problem).__module__}.{type(problem).__qualname__}"
        if kind.partition(".")[0] not in {"pyspark", "write_client"}:
            return None
        return {"kind": kind, "message": str(problem)[:MAX_TEXT], "code": "", "cause": ""}
    causes = [thrown]
    while len(causes) < MAX_CAUSES and (cause := causes[-1].getCause()) is not None:
        causes.append(cause)
    first, last = (str(cause.getClass().getName()) for cause in (thrown, causes[-1]))
    cause = f"{last}: {_message_of(causes[-1])}" if len(causes) > 1 else ""
    return {"kind": first, "message": _message_of(thrown), "code": _code(problem), "cause": cause}


def _message_of(thrown: Any) -> str:  # noqa: ANN401 - a Py4J object
    message = str(thrown.getMessage() or "").partition("\n\tat ")[0]
    return message.strip()[:MAX_TEXT]


def _code(problem: Exception) -> str:
    tell = getattr(problem, "getErrorClass", None)  # since PySpark 3.4
    return str((tell and tell()) or "")


def collect(frame: DataFrame) -> Message:
    """Run a query: `columns` as [name, type in Spark's words], and `rows` in their JSON form."""
    fields = frame.schema.fields
    rows = [[form(value, f.dataType) for value, f in zip(row, fields)] for row in frame.collect()]
    columns = [[field.name, field.dataType.simpleString()] for field in fields]
    return {"columns": columns, "rows": rows}


def form(value: Any, type_: DataType) -> Any:  # noqa: ANN401 - of any type
    """Return PySpark's form of a value as JSON, in the form of `harness.model.canonical.to_json`.

    Timestamps are in UTC, as this process. Of two entries of a map with one key the last is seen.
    """
    kind: Any = type_
    name = type(type_).__name__
    if value is None:
        return None
    if name == "StructType":
        pairs = zip(value, kind.fields)
        return {"struct": [[field.name, form(part, field.dataType)] for part, field in pairs]}
    if name == "ArrayType":
        return [form(part, kind.elementType) for part in value]
    if name == "MapType":
        key, part = kind.keyType, kind.valueType
        return {"map": [[form(k, key), form(v, part)] for k, v in value.items()]}
    return _plain(value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - of any type
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, decimal.Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat(sep=" ")}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, (bytes, bytearray)):
        return {"binary": bytes(value).hex()}
    if type(value).__name__ == "VariantVal":  # since PySpark 4.0
        return value.toJson()
    return value


def _accept(server: socket.socket, token: str) -> tuple[socket.socket, Any]:
    """Wait for who knows the token; return the connection and what is read from it."""
    while True:
        connection, _ = server.accept()
        connection.settimeout(HELLO_S)
        requests = connection.makefile("r", encoding="utf-8")
        try:
            sent = requests.readline().strip()
        except (OSError, ValueError):
            sent = ""
        if secrets.compare_digest(sent.encode(), token.encode()):
            connection.settimeout(None)
            return connection, requests
        connection.close()


def main(arguments: list[str]) -> None:
    """Serve whoever knows the token, until the connection ends."""
    host, port, conf = arguments
    if home := os.environ.get("SPARK_HOME"):  # PySpark is found as by Spark's own scripts
        python = Path(home, "python")
        sys.path[:0] = map(str, [python, *python.glob("lib/py4j-*.zip")])
    sys.path.append(str(Path(__file__).parent))
    token = os.environ.pop(TOKEN)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.bind((host, int(port)))  # a port in use is seen before Spark starts
        spark = _start(json.loads(Path(conf).read_text(encoding="utf-8")))
        server.listen()
        connection, requests = _accept(server, token)
    with connection, requests:
        connection.sendall(HELLO)
        worker = Worker(spark, Replies(connection))
        for line in requests:
            worker.handle(json.loads(line))
        worker.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
