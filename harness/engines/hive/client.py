"""A session with HiveServer2 over PyHive: raw rows, refusals, and what gives no answer."""

import getpass
import logging
import os
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from pyhive import hive
from pyhive.exc import OperationalError
from TCLIService.ttypes import (
    TFetchOrientation,
    TFetchResultsReq,
    TGetResultSetMetadataReq,
    TOperationState,
    TStatusCode,
    TTypeId,
)
from thrift.Thrift import TApplicationException
from thrift.transport.TSocket import TSocket
from thrift.transport.TSSLSocket import TSSLSocket
from thrift.transport.TTransport import TBufferedTransport, TFramedTransport, TTransportException

from harness.artifacts.endpoint import Endpoint, Secret
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError
from harness.engines.engine_support import check_reads
from harness.engines.hive import errors
from harness.engines.hive.errors import HiveError, Thrown
from harness.engines.hive.values import HiveResult, Job, jobs, path_taken
from harness.runtime.api import Running
from harness.runtime.process import LOOPBACK

NEWER: Final = {22: "TIMESTAMPLOCALTZ_TYPE"}
"""Types of Hive 3 that the client library has no name for (Hive 3.1.3, TCLIService.thrift)."""
CONNECT_S: Final = 60.0
CLOSE_S: Final = 2.0
FETCH_ROWS: Final = 1000

_SUCCESS: Final = (TStatusCode.SUCCESS_STATUS, TStatusCode.SUCCESS_WITH_INFO_STATUS)
_GOING: Final = (
    TOperationState.INITIALIZED_STATE,
    TOperationState.PENDING_STATE,
    TOperationState.RUNNING_STATE,
)

# Thrift logs every failed attempt to connect; the exceptions say the same to who waits for them.
logging.getLogger("thrift").addHandler(logging.NullHandler())


class HiveClient:
    """One session, for one thread. Once it gave no answer it gives no other."""

    def __init__(
        self, port: int, running: Running, late: threading.Event, endpoint: Endpoint | None = None
    ) -> None:
        """Open a session. `running`: the server, whose log says why jobs fail.

        `late`: is set when no answer came in time. `endpoint`: of a server that runs already, to
        which nothing is sent that could change anything.
        """
        self._running = running
        self._late = late
        self._endpoint = endpoint
        self._socket = _socket_of(endpoint) if endpoint else TSocket(LOOPBACK, port)
        self._deadline = 0.0
        self._lost = ""
        user = endpoint.user if endpoint else session_user()
        with self._answering(CONNECT_S):
            transport = TBufferedTransport(self._socket)
            if endpoint and endpoint.sasl:
                transport = _SaslTransport(self._socket, user, endpoint.password)
            self._hive = hive.Connection(thrift_transport=transport, username=user)

    def run(self, sql: str, timeout_s: float) -> HiveResult:
        """Run a statement and fetch all its rows.

        Raises HiveError: the server answered with an error.
        Raises NoAnswerError: it did not answer within `timeout_s`, or the connection broke.
        """
        if self._endpoint:
            check_reads(sql)
        began = self._running.log_size()
        with self._answering(timeout_s), self._cursor() as cursor:
            # Not waited for in the call: so the server tells which tasks ran, also failed ones.
            cursor.execute(sql, async_=True)
            ran = self._finished(cursor, began)
            columns = self._columns(cursor) if cursor._operationHandle.hasResultSet else ()  # noqa: SLF001
            rows = self._rows(cursor) if columns else ()
            return HiveResult(columns, rows, path_taken(ran))

    def close(self) -> None:
        if not self._lost:
            with suppress(Exception), self._answering(CLOSE_S):
                self._hive.close()
        self._socket.close()

    @contextmanager
    def _answering(self, timeout_s: float) -> Iterator[None]:
        """Sort the ways in which a call fails."""
        if self._lost:
            raise NoAnswerError(f"the connection was lost before: {self._lost}")
        self._deadline = time.monotonic() + timeout_s
        try:
            self._within()
            yield
        except (TTransportException, OSError, EOFError) as problem:
            raise self._no_answer(problem, timeout_s) from problem
        except OperationalError as problem:
            raise _refused(problem.args[0].status) from problem
        except TApplicationException as problem:
            refusal = Refusal(type(problem).__name__, str(problem))
            raise HiveError(refusal) from problem

    def _within(self) -> None:
        """Let the next call take no longer than the time that is left."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.setTimeout(left * 1000)

    def _no_answer(self, problem: Exception, timeout_s: float) -> NoAnswerError:
        kind = getattr(problem, "type", None)
        late = isinstance(problem, TimeoutError) or kind == TTransportException.TIMED_OUT
        if late:
            self._late.set()
        why = getattr(problem, "inner", None) or problem  # Thrift says of no certificate what it is
        self._lost = f"no answer within {timeout_s:.0f} s" if late else f"connection lost: {why}"
        self._socket.close()
        return NoAnswerError(self._lost)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Yield a cursor whose operation is closed at the server if there is still a connection."""
        cursor, connected = self._hive.cursor(), True
        try:
            yield cursor
        except (TTransportException, OSError):
            connected = False
            raise
        finally:
            if connected:
                with suppress(Exception):  # a result that is complete stays an answer
                    cursor.close()

    def _finished(self, cursor: Any, began: int) -> tuple[Job, ...]:  # noqa: ANN401 - no types
        """Wait for the end of a query; give the jobs that ran for it."""
        while True:
            self._within()
            status = cursor.poll()
            ran = jobs(status.taskStatus)
            if status.operationState == TOperationState.FINISHED_STATE:
                return ran
            if status.operationState not in _GOING:
                raise _failed(status, ran, self._running.log_since(began))

    def _columns(self, cursor: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        self._within()
        asked = TGetResultSetMetadataReq(cursor._operationHandle)  # noqa: SLF001 - PyHive keeps no qualifiers
        answer = self._hive.client.GetResultSetMetadata(asked)
        if answer.schema is None:
            raise _refused(answer.status)
        return tuple(
            (column.columnName, _type_text(column.typeDesc)) for column in answer.schema.columns
        )

    def _rows(self, cursor: Any) -> tuple[tuple[Any, ...], ...]:  # noqa: ANN401
        """Fetch all rows as they are sent: PyHive's own conversion cuts timestamps off."""
        rows: list[tuple[Any, ...]] = []
        handle = cursor._operationHandle  # noqa: SLF001
        request = TFetchResultsReq(handle, TFetchOrientation.FETCH_NEXT, FETCH_ROWS)
        while True:
            self._within()
            answer = self._hive.client.FetchResults(request)
            if answer.status.statusCode not in _SUCCESS:
                raise _refused(answer.status)
            more = list(zip(*map(_sent, answer.results.columns), strict=True))
            if not more:
                return tuple(rows)
            rows += more


def _socket_of(endpoint: Endpoint) -> TSocket:
    """Return what reaches a server that runs already; raises EnvironmentProblem."""
    tls = endpoint.tls()
    address = endpoint.host_and_port
    return _TlsSocket(*address, ssl_context=tls) if tls else TSocket(*address)


class _TlsSocket(TSSLSocket):  # type: ignore[misc]  # Thrift has no types
    def close(self) -> None:
        if self.handle:  # else Thrift 0.25 raises here, and why it is not open is lost
            super().close()


_START, _OK, _COMPLETE = 1, 2, 5


class _SaslTransport(TFramedTransport):  # type: ignore[misc]  # Thrift has no types
    """Messages after a login by SASL's PLAIN (RFC 4616), which wraps none of them.

    Each of its steps is a byte, a length and as many bytes (Thrift's `TSaslTransport`).
    """

    def __init__(self, socket: TSocket, user: str, password: Secret | None) -> None:
        super().__init__(socket)
        self._socket, self._user, self._password = socket, user, password

    def open(self) -> None:
        """Log in; raises EnvironmentProblem, NoAnswerError, and what a socket does."""
        # A server whose authentication is NONE wants some password.
        password = self._password.read() if self._password else "none"
        self._socket.open()
        for step, text in ((_START, "PLAIN"), (_OK, f"\0{self._user}\0{password}")):
            sent = text.encode()
            self._socket.write(struct.pack(">BI", step, len(sent)) + sent)
        step, length = struct.unpack(">BI", self._socket.readAll(5))
        if step != _COMPLETE:
            message = self._socket.readAll(length).decode(errors="replace")
            # As Thrift's `TSaslServerTransport` says of one that wants Kerberos.
            lacks = "; Kerberos is not supported" if "Unsupported mechanism" in message else ""
            raise NoAnswerError(f"it does not take the login of {self._user}: {message}{lacks}")


def session_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # of Python until 3.12, and since then
        return str(os.getuid())


def _sent(column: Any) -> list[Any]:  # noqa: ANN401 - Thrift's own struct
    values: list[Any] = hive._unwrap_column(column)  # noqa: SLF001 - without a type: as they came
    return values


def _refused(status: Any) -> HiveError:  # noqa: ANN401 - Thrift's own struct
    return _error(status, errors.chain(status.infoMessages or ()))


def _failed(status: Any, ran: Sequence[Job], log: str) -> HiveError:  # noqa: ANN401
    """Return the error of a query; what a job of MapReduce met is only in the log, Tez tells it."""
    if ran and ran[-1].by_tez:
        return _error(status, errors.vertex_failure(status.errorMessage or ""))
    return _error(status, errors.job_failure(log, ran[-1].id) if ran else ())


def _error(status: Any, thrown: Sequence[Thrown]) -> HiveError:  # noqa: ANN401
    """Return the error, unless it only lacks its metastore or a library: no word on the query."""
    message = status.errorMessage or ""
    refusal = errors.refusal(message, status.sqlState, status.errorCode, thrown)
    if errors.catalog_is_gone(refusal):
        reason = refusal.message.partition("\n")[0]
        raise NoAnswerError(f"HiveServer2 does not reach its metastore: {reason}")
    if errors.lacks_library(refusal):
        raise NoAnswerError(f"the machine lacks a library that HiveServer2 needs: {refusal.cause}")
    return HiveError(refusal)


def _type_text(described: Any) -> str:  # noqa: ANN401
    """Return the type as Hive writes it: `bigint`, `decimal(10,2)`, `varchar(5)`, `struct`."""
    entry = described.types[0].primitiveEntry
    known: Mapping[int, str] = {**TTypeId._VALUES_TO_NAMES, **NEWER}  # noqa: SLF001
    name = known.get(entry.type, f"type {entry.type}").removesuffix("_TYPE").lower()
    given = entry.typeQualifiers.qualifiers if entry.typeQualifiers else {}
    qualifiers = ("precision", "scale", "characterMaximumLength")
    numbers = [str(given[qualifier].i32Value) for qualifier in qualifiers if qualifier in given]
    return f"{name}({','.join(numbers)})" if numbers else name
