"""Speak to the worker that holds DataFusion (`datafusion.worker`): a connection is a session."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from harness.core.errors import HarnessError
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.datafusion import worker
from harness.engines.datafusion.tables import Told
from harness.engines.worker_connection import connected
from harness.runtime.api import Running

if TYPE_CHECKING:
    import pyarrow

CAUSED: Final = "\ncaused by\n"
"""What stands before each cause in DataFusion's texts (`DataFusionError::Context`)."""
MAX_TEXT: Final = 4000
MAX_KIND: Final = 60
"""What stands before a colon is the name of an error if it is no longer."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a question."""

    table: pyarrow.Table
    seconds: float


class DataFusionSession:
    """A connection to the worker. Made by `opened`."""

    def __init__(self, running: Running, connection: socket.socket) -> None:
        """`connection`: to the worker, which has proved who it is."""
        self._running = running
        self._connection = connection
        self._answers = connection.makefile("rb")

    def run(
        self, sql: str, tables: Sequence[Told], conf: Mapping[str, str], timeout_s: float
    ) -> Found:
        """Run a query on tables with keys and values of DataFusion's own, and fetch all rows.

        Raises:
            RefusedError: DataFusion, or hudi-rs, answered with an error.
            NoAnswerError: it did not answer in time, for which its process is ended, or it died.
            HarnessError: the worker itself failed.

        """
        self._connection.settimeout(timeout_s)
        try:
            head, body = self._answer({"sql": sql, "tables": [*tables], "conf": {**conf}})
        except TimeoutError:
            self._running.stop(grace_s=0)
            told = f"no answer within {timeout_s:g} s; the process was ended"
            raise NoAnswerError(told) from None
        except (OSError, ValueError) as problem:
            raise NoAnswerError(f"{problem}; its log:\n{self._running.log_tail()}") from None
        finally:
            self._running.peak_memory_mb()
        if "broke" in head:
            raise HarnessError(f"the DataFusion worker failed:\n{head['broke']}")
        if "error" in head:
            raise RefusedError(refusal(*head["error"]), head["seconds"])
        return Found(_table(body), head["seconds"])

    def _answer(self, question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        self._connection.sendall(json.dumps(question).encode() + b"\n")
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the DataFusion process ended")
        head = json.loads(line)
        body = self._answers.read(head.get("bytes", 0))
        if len(body) != head.get("bytes", 0):
            raise ConnectionError("the DataFusion process ended while it answered")
        return head, body

    def close(self) -> None:
        """End the session; never raises."""
        with suppress(OSError):
            self._answers.close()
            self._connection.close()


def opened(running: Running, port: int, token: str) -> DataFusionSession:
    """Return a session, once the worker has said that it knows the token.

    Raises OSError: it is not there yet, or no more.
    """
    found = connected(port, token, worker.HELLO, worker.HELLO_S)
    return DataFusionSession(running, found)


def refusal(class_: str, text: str) -> Refusal:
    """Return an error by what Python and Rust say of it. Pure.

    The kind is what stands before the first colon, the name of a `DataFusionError`.

    >>> refusal("ValueError", "Error during planning: table 't' not found").kind
    'Error during planning'
    >>> refusal("PanicException", "partition not used yet").kind
    'PanicException'
    """
    first, *causes = text[:MAX_TEXT].split(CAUSED)
    name, colon, message = first.partition(": ")
    if not colon or len(name) > MAX_KIND:
        name, message = class_, first
    return Refusal(name, message or first, cause=causes[-1] if causes else "")


def _table(body: bytes) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - only asking needs it

    with pa.ipc.open_stream(body) as reader:
        return reader.read_all()
