"""Speak to the worker that holds an engine of Python (`python_worker`): a connection is a session.

What every such engine does the same stands here too: a server, and an answer from what came.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from harness.artifacts.distribution import Distribution
from harness.core.errors import HarnessError, UsageProblem
from harness.core.records import Column, Refusal
from harness.engines import python_worker as worker
from harness.engines import query_sql
from harness.engines.api import (
    Connection,
    NoAnswerError,
    ReaderSettings,
    RefusedError,
    Reply,
    Server,
)
from harness.engines.arrow_values import canonical, canonical_type
from harness.engines.python_program import START_S, PythonProgram
from harness.engines.worker_connection import connected
from harness.runtime import metastore_client
from harness.runtime.api import MetastoreUris, Running, Runtime, Served
from harness.runtime.metastore_client import CatalogGoneProblem, CatalogRefusedError

if TYPE_CHECKING:
    import pyarrow

MAX_TEXT: Final = 4000
Refused = Callable[[str, str], Refusal]
"""Returns what is told of an error, by its class and its text."""
Entry = tuple[str, str, Any]
"""Database, name, and Thrift's own entry."""


@dataclass(frozen=True, slots=True)
class PythonEngine:
    """What an engine of Python brings to its worker and to who asks it."""

    answers: Path
    """The source of what answers in the worker."""
    first: Mapping[str, Any]
    """A question that it answers as soon as it is ready."""
    connection: Callable[[PythonSession, str, ReaderSettings], Connection]
    """Makes a connection of a session, by the metastore that it looks tables up in."""
    refusal: Refused = Refusal


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a question."""

    table: pyarrow.Table
    seconds: float


class PythonSession:
    """A connection to the worker. Made by `opened`."""

    def __init__(
        self, running: Running, connection: socket.socket, refusal: Refused = Refusal
    ) -> None:
        """`connection`: to the worker, which has proved who it is. `refusal`: tells its errors."""
        self._running = running
        self._refusal = refusal
        self._connection = connection
        self._answers = connection.makefile("rb")

    def run(self, question: Mapping[str, Any], timeout_s: float) -> Found:
        """Put a question and fetch all rows.

        Raises:
            RefusedError: the engine raised an error.
            NoAnswerError: it did not answer in time, for which its process is ended, or it died.
            HarnessError: the worker itself failed.

        """
        self._connection.settimeout(timeout_s)
        try:
            head, body = self._answer(question)
        except TimeoutError:
            self._running.stop(grace_s=0)
            told = f"no answer within {timeout_s:g} s; the process was ended"
            raise NoAnswerError(told) from None
        except (OSError, ValueError) as problem:
            raise NoAnswerError(f"{problem}; its log:\n{self._running.log_tail()}") from None
        finally:
            self._running.peak_memory_mb()
        if "broke" in head:
            raise HarnessError(f"the worker failed:\n{head['broke']}")
        if "error" in head:
            class_, text = head["error"]
            raise RefusedError(self._refusal(class_, text[:MAX_TEXT]), head["seconds"])
        return Found(_table(body), head["seconds"])

    def _answer(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        self._connection.sendall(json.dumps(question).encode() + b"\n")
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the process ended")
        head = json.loads(line)
        body = self._answers.read(head.get("bytes", 0))
        if len(body) != head.get("bytes", 0):
            raise ConnectionError("the process ended while it answered")
        return head, body

    def close(self) -> None:
        """End the session; never raises."""
        with suppress(OSError):
            self._answers.close()
            self._connection.close()


def opened(running: Running, port: int, token: str, refusal: Refused = Refusal) -> PythonSession:
    """Return a session, once the worker has said that it knows the token.

    Raises OSError: it is not there yet, or no more.
    """
    found = connected(port, token, worker.HELLO, worker.HELLO_S)
    return PythonSession(running, found, refusal)


@dataclass(frozen=True, slots=True)
class PythonServer(Served):
    """A running worker."""

    port: int
    token: str
    refusal: Refused
    connection: Callable[[PythonSession, ReaderSettings], Connection]
    """Makes the engine's own connection of a session."""

    def connect(self, settings: ReaderSettings) -> Connection:
        """Open a session; raises NoAnswerError when the process is gone."""
        try:
            found = opened(self.running, self.port, self.token, self.refusal)
        except OSError as problem:
            raise NoAnswerError(f"{problem}; its log:\n{self.log_tail()}") from None
        return self.connection(found, settings)


@contextmanager
def served(
    runtime: Runtime,
    metastore: MetastoreUris,
    folder: Path,
    engine: PythonEngine,
) -> Iterator[Server]:
    """Start the worker, ready when it answers its engine's first question."""
    metastore_client.check(metastore.host)
    program = PythonProgram(runtime.distribution, engine.answers)

    def ready(running: Running, port: int) -> PythonServer:
        def connection(session: PythonSession, settings: ReaderSettings) -> Connection:
            return engine.connection(session, metastore.host, settings)

        with closing(opened(running, port, program.token, engine.refusal)) as first:
            first.run(engine.first, START_S)
        return PythonServer(running, port, program.token, engine.refusal, connection)

    with runtime.start(program, metastore, folder, ready) as found:
        yield found


def no_image(distribution: Distribution) -> NoReturn:
    """Raise UsageProblem: no image has an engine of Python."""
    raise UsageProblem(f"{distribution.name} is a library of Python and has no image")


def entries(metastore: str, names: Iterable[tuple[str, str]]) -> Sequence[Entry]:
    """Return database, name and entry of each table that the metastore has.

    Raises:
        NoAnswerError: the metastore is gone.
        RefusedError: it refused to tell.

    """
    try:
        with metastore_client.connect(metastore) as catalog:
            found = [(*each, catalog.table(*each)) for each in names]
    except CatalogGoneProblem as gone:
        raise NoAnswerError(str(gone)) from None
    except CatalogRefusedError as refused:
        raise RefusedError(refused.refusal, 0.0) from None
    return [each for each in found if each[-1] is not None]


def reply(found: Found, confirmed: str = "") -> Reply:
    """Return what came, in canonical values."""
    fields = found.table.schema
    told = tuple(Column(each.name, str(each.type), canonical_type(each.type)) for each in fields)
    columns = [[canonical(value) for value in each] for each in found.table.columns]
    rows = tuple(zip(*columns, strict=True))
    shown, values = query_sql.drop_meta(told, rows)
    meta = query_sql.left_out(told, rows)
    return Reply(shown, values, found.seconds, confirmed, left_out=meta)


def _table(body: bytes) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - only asking needs it

    with pa.ipc.open_stream(body) as reader:
        return reader.read_all()
