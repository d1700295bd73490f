"""Speak to a Spark JVM in a process of its own (`harness.engines.spark.worker`)."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any, Final

from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.spark.values import as_declared
from harness.engines.spark.worker import MAX_TEXT
from harness.model.canonical import Value, from_json
from harness.runtime.api import Running

SAYS_NOTHING: Final = frozenset(
    {
        "Insert Into to Hudi table failed",
        "Merge into Hoodie table command failed",
        "Failed to write to Hudi",
    }
)
"""What Hudi throws after it logged at least one record that it could not write."""

_EVENT: Final = re.compile(r"^(?=\d\d/\d\d/\d\d \d\d:\d\d:\d\d [A-Z]+ )", re.MULTILINE)
"""Where Spark's own layout begins an event: `%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex`."""
_RECORD: Final = re.compile(r"\S+ \S+ ERROR Hoodie\w*Handle: Error writing record\b")
_THROWN: Final = re.compile(r"^(?:Caused by: )?((?:[\w$]+\.)+[\w$]+(?:: .*)?)$", re.MULTILINE)


def with_logged_cause(refusal: Refusal, log: str) -> Refusal:
    """Return a refusal with the innermost cause that the log names for it, where it has none.

    A record that cannot be written does not end Hudi's write: the write handle logs why, and the
    whole statement fails at the end without a cause (Hudi 0.15.0 and 1.x:
    `HoodieCreateHandle.doWrite`, `InsertIntoHoodieTableCommand.run`,
    `MergeIntoHoodieTableCommand`). Other statements may have logged meanwhile, so of several causes
    none is claimed.
    """
    if refusal.cause or refusal.message not in SAYS_NOTHING:
        return refusal
    causes = tuple(dict.fromkeys(filter(None, map(_cause, _EVENT.split(log)))))
    several = "one or more of: " if len(causes) > 1 else ""
    return replace(refusal, cause=(several + "; ".join(causes))[:MAX_TEXT])


def _cause(event: str) -> str:
    """Return the innermost exception of an event that tells of a record, `class: message`."""
    thrown = _THROWN.findall(event) if _RECORD.match(event) else []
    return str(thrown[-1]) if thrown else ""


OPEN_S: Final = 60.0
END_S: Final = 20.0
"""How long the worker and its JVM may take to end by themselves."""


class Library(StrEnum):
    """A module beside the worker that calls a format's library."""

    HUDI = "write_client"
    ICEBERG = "iceberg_client"
    DELTA = "delta_client"
    PLAN = "plan_client"

    @property
    def source(self) -> Path:
        return Path(__file__).with_name(f"{self}.py")


@dataclass(frozen=True, slots=True)
class SparkRows:
    """What a statement gave; both empty for most that are no query."""

    columns: tuple[tuple[str, str], ...]
    """Name, and type in Spark's words."""
    rows: tuple[tuple[Value, ...], ...]
    seconds: float


class Session:
    """A Spark session with settings of its own; the JVM is shared. Made by `Spark.open`."""

    def __init__(self, spark: Spark, name: str, reported: Mapping[str, str]) -> None:
        self._spark = spark
        self._name = name
        self.reported = dict(reported)

    def run(self, sql: str, *, timeout_s: float) -> SparkRows:
        """Run one statement and fetch all rows.

        Raises RefusedError: Spark answered with an error.
        Raises NoAnswerError: it did not answer in time, for which its process is ended, or it died.
        Raises HarnessError: the worker itself failed.
        """
        reply = self._ask(timeout_s, do="run", sql=sql)
        columns = tuple((name, type_) for name, type_ in reply["columns"])
        rows = tuple(
            tuple(as_declared(from_json(v), of) for v, (_, of) in zip(row, columns, strict=True))
            for row in reply["rows"]
        )
        return SparkRows(columns, rows, reply["seconds"])

    def call(self, client: Library, request: Mapping[str, object], *, timeout_s: float) -> object:
        """Call a format's library by a module beside the worker; raises as `run` does."""
        return self._ask(timeout_s, do="call", client=client, **request)["result"]

    def append(
        self, query: str, format_: str, options: Mapping[str, str], path: str, *, timeout_s: float
    ) -> None:
        """Append a query's rows by Spark's `DataFrameWriter`; raises as `run` does."""
        to = {"format": format_, "options": {**options, "path": path}}
        self._ask(timeout_s, do="run", sql=query, append=to)

    def _ask(self, timeout_s: float, **request: object) -> dict[str, Any]:
        began = self._spark.running.log_size()
        try:
            return self._spark.ask(timeout_s, session=self._name, **request)
        except RefusedError as answer:
            refusal = with_logged_cause(answer.refusal, self._spark.running.log_since(began))
            raise RefusedError(refusal, answer.seconds) from None

    def close(self) -> None:
        with suppress(NoAnswerError, RefusedError, HarnessError):
            self._spark.ask(OPEN_S, do="close", session=self._name)


class Spark:
    """A running JVM. Made by `launch.spark`."""

    def __init__(self, running: Running, connection: socket.socket, port: int = 0) -> None:
        self.running = running
        self.port = port
        self._connection = connection
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._over = False
        threading.Thread(target=self._listen, daemon=True).start()

    def open(self, settings: Mapping[str, str], tell: Sequence[str] = ()) -> Session:
        """Open a session with Spark's own keys; `tell`: those whose values it is asked for.

        Raises NoAnswerError: the process is gone.
        """
        name = f"s{next(self._numbers)}"
        request = {"session": name, "settings": dict(settings), "tell": list(tell)}
        return Session(self, name, self.ask(OPEN_S, do="open", **request)["reported"])

    def ask(self, timeout_s: float, **request: object) -> dict[str, Any]:
        """Send a request and wait for its reply. Raises as `Session.run` does."""
        number = next(self._numbers)
        reply: Future[dict[str, Any]] = Future()
        self._send(number, request, reply)
        try:
            answer = reply.result(timeout_s)
        except TimeoutError:
            self.running.stop(grace_s=0)
            raise NoAnswerError(
                f"no answer within {timeout_s:g} s; the process was ended"
            ) from None
        finally:
            self.running.peak_memory_mb()
        if "error" in answer:
            raise RefusedError(Refusal(**answer["error"]), answer.get("seconds", 0.0))
        if "broke" in answer:
            raise HarnessError(f"the Spark worker failed:\n{answer['broke']}")
        return answer

    def kill(self) -> None:
        self.running.stop(grace_s=0)

    def alive(self) -> bool:
        return not self._over and self.running.alive()

    def end(self) -> None:
        """Let the worker and its JVM end by themselves; its runtime ends what is left.

        What Spark says of a statement while it stops is no refusal: whoever waits gets no answer.
        """
        self._give_up("the Spark process was ended while it was asked")
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        with suppress(TimeoutError):
            self.running.wait(END_S)
        self._connection.close()

    def _send(self, number: int, request: dict[str, object], reply: Future[dict[str, Any]]) -> None:
        line = json.dumps({"id": number, **request}).encode() + b"\n"
        with self._lock:
            if self._over:
                raise NoAnswerError(self._how_it_ended())
            self._waiting[number] = reply
        with suppress(OSError):  # then the listener sees the end, and says so to all who wait
            self._connection.sendall(line)

    def _listen(self) -> None:
        with suppress(OSError), self._connection.makefile("r", encoding="utf-8") as replies:
            for line in replies:
                reply = json.loads(line)
                with self._lock:
                    waiting = self._waiting.pop(reply["id"], None)
                if waiting is not None:  # else it was given up
                    waiting.set_result(reply)
        self._give_up(self._how_it_ended())

    def _give_up(self, why: str) -> None:
        """Send and expect nothing more."""
        with self._lock:
            self._over = True
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.set_exception(NoAnswerError(why))

    def _how_it_ended(self) -> str:
        return f"the Spark process ended; the end of its log:\n{self.running.log_tail()}"
