"""A connection to a server of the Trino family, with the `trino` client library.

The library sends its requests over `HttpSession` instead of a session of `requests`, whose layers
took most of the harness's CPU (docs/results/benchmark.md). PrestoSQL and PrestoDB speak Trino's
protocol with other names of HTTP headers, which are renamed on the way.
"""

import io
import json
import math
import re
import select
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from requests import Response
from requests.structures import CaseInsensitiveDict
from trino.client import ClientSession, TrinoQuery, TrinoRequest
from trino.exceptions import HttpError, TrinoConnectionError, TrinoQueryError

from harness.artifacts.endpoint import Endpoint
from harness.core import refusals, tolerances
from harness.core.records import Refusal
from harness.core.tolerances import Declared, Tally
from harness.engines import query_sql
from harness.engines.api import NoAnswerError, Question, RefusedError, Reply
from harness.engines.engine_support import check_reads
from harness.engines.trino import values as trino_values
from harness.engines.trino.values import entries

LIBRARY_PREFIX: Final = "X-Trino"

Headers = Mapping[str, str | None]
"""Of a request; those without a value are not sent."""


class ServerErrorReply(HTTPException):
    """The server met something in itself while it answered, and replied that it did (500)."""

    def __init__(self, body: str) -> None:
        super().__init__(f"error {HTTPStatus.INTERNAL_SERVER_ERROR.value}: {body}")
        self.body = body


class HttpSession:
    """One connection; no request goes on when the time of the whole query is over.

    It has what the library uses of a session: `headers`, and a method for each of HTTP's.
    """

    def __init__(
        self, address: tuple[str, int], prefix: str, endpoint: Endpoint | None = None
    ) -> None:
        """`prefix`: `X-Trino` or `X-Presto`. Nothing is sent yet; raises EnvironmentProblem."""
        self.headers: dict[str, str | None] = {}
        """Sent with each request; the library fills them."""
        self.until = math.inf
        """On the monotonic clock."""
        # No proxy and no password file has a say.
        tls = endpoint and endpoint.tls()
        self._http = HTTPSConnection(*address, context=tls) if tls else HTTPConnection(*address)
        self._prefix = prefix
        self._login, self._user = (endpoint.headers(), endpoint.user) if endpoint else ({}, "")

    def get(self, url: str, *, headers: Headers, **_: object) -> Response:
        return self._sent("GET", url, headers)

    def head(self, url: str, *, headers: Headers, **_: object) -> Response:
        return self._sent("HEAD", url, headers)

    def delete(self, url: str, **_: object) -> Response:
        return self._sent("DELETE", url, {})

    def post(self, url: str, *, data: bytes, headers: Headers, **_: object) -> Response:
        """Send a statement.

        Raises OSError: there is no reply in time. Raises HTTPException: it is not HTTP.
        Raises ServerErrorReply: the server met an error in itself.
        """
        return self._sent("POST", url, headers, data)

    def close(self) -> None:
        self._http.close()

    def _sent(self, method: str, url: str, headers: Headers, body: bytes | None = None) -> Response:
        """Send one request; repeat and follow nothing, which would hide that it failed."""
        sent = {**self.headers, **headers}
        renamed = {
            _other(name, LIBRARY_PREFIX, self._prefix): value
            for name, value in sent.items()
            if value is not None
        }
        path = urlsplit(url)._replace(scheme="", netloc="").geturl()
        try:
            self._within()
            self._http.request(method, path, body, {**renamed, **self._login})
            reply = self._http.getresponse()
            body = reply.read()
        except (OSError, HTTPException):
            self._http.close()  # half a reply may be on its way; the next request connects anew
            raise
        if reply.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ServerErrorReply(body.decode(errors="replace"))
        if reply.status == HTTPStatus.UNAUTHORIZED and self._user:  # PrestoDB says it in HTML
            raise HTTPException(f"it does not take the login of {self._user} (error 401)")
        return _as_requests(reply, body, self._prefix)

    def _within(self) -> None:
        """Let the next request take no longer than the time that is left."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for this query is over")
        self._http.timeout = None if left == math.inf else left  # for connecting
        line = self._http.sock
        if line is not None and select.select([line], [], [], 0)[0]:
            self._http.close()  # nothing was asked: this is the end of a connection nobody used
        elif line is not None:
            line.settimeout(self._http.timeout)


def _as_requests(reply: HTTPResponse, body: bytes, prefix: str) -> Response:
    """Return a reply as the library wants it, its headers called as Trino calls them."""
    response = Response()
    response.status_code, response.raw = reply.status, io.BytesIO(whole(body))
    named = ((_other(name, prefix, LIBRARY_PREFIX), value) for name, value in reply.getheaders())
    response.headers = CaseInsensitiveDict(named)
    return response


def whole(body: bytes) -> bytes:
    """Return a reply in which no entry of a map is lost to who reads it into Python's dicts.

    An object with a key twice becomes a list of its pairs, which no server sends for a map.
    """
    if b'"map"' not in body:  # as columns of that type are described
        return body
    doubled = False

    def hook(pairs: list[tuple[str, Any]]) -> Any:  # noqa: ANN401 - any JSON
        nonlocal doubled
        entry = entries(pairs)
        doubled |= isinstance(entry, list)
        return entry

    try:
        read = json.loads(body, object_pairs_hook=hook)
    except (RecursionError, ValueError):  # who reads it next tells why
        return body
    return json.dumps(read).encode() if doubled else body


def _other(name: str, old: str, new: str) -> str:
    """Return the name of a header with another first part."""
    begins = name.lower().startswith(f"{old}-".lower())
    return new + name[len(old) :] if begins else name


if TYPE_CHECKING:
    from requests import Session

CONNECT_S: Final = 60.0
CANCEL_S: Final = 5.0
"""How long to wait for a server to take note that its query is not wanted any more."""

CONFIRM: Final = "show session like '%use%column_names'"
"""Tells, for each catalog, whether columns are mapped by name. The property is called
`parquet_use_column_names` by the hive connectors and `use_parquet_column_names` by `hudi`;
of ORC files `orc_use_column_names`, which PrestoDB does not tell."""
_OF_FILES: Final = ("parquet", "orc")
"""Kinds of files in the names of such properties; others are not about files."""

_SAYS_NOTHING: Final = {"SERVER_STARTING_UP", "SERVER_SHUTTING_DOWN", "NO_NODES_AVAILABLE"}
"""Errors of a server that did not look at the query."""
_TOO_LITTLE: Final = "INSUFFICIENT_RESOURCES"
"""The type of every error that means the machine, or what the server may have of it: memory, space
to spill, a place in the queue (`ErrorType` of the SPI of Trino and of both Prestos)."""
_SILENT: Final = (OSError, HTTPException, TrinoConnectionError, HttpError)
"""What sending a query raises when there is no reply, or none of a server of this family."""
_MALFORMED: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a reply raises when it is not what the protocol says."""
_METASTORE_GONE: Final = ("ConnectException", "TTransportException", "SocketTimeoutException")


class TrinoConnection:
    """A session with one server; for one thread at a time."""

    def __init__(
        self,
        address: tuple[str, int],
        header_prefix: str,
        declared: Declared,
        statement: Callable[[Question], tuple[str, str]] = lambda _: ("", ""),
        endpoint: Endpoint | None = None,
    ) -> None:
        """Nothing is sent yet; raises EnvironmentProblem: a secret cannot be read.

        `statement`: returns the catalog that a question is about, and the SQL. `endpoint`: of a
        server of somebody else, to which nothing is sent that could change anything.
        """
        self._declared = declared
        self._statement = statement
        self._read_only = endpoint is not None
        self._http = HttpSession(address, header_prefix, endpoint)
        session = ClientSession(
            user=endpoint.user if endpoint else "harness",
            source="harness",
            timezone="UTC",
            heartbeat_interval=None,
        )
        # One attempt: the library would otherwise repeat what failed, and hide that it did.
        http = cast("Session", self._http)
        self._request = TrinoRequest(*address, session, http, http_scheme="http", max_attempts=1)
        self._confirmed: Mapping[str, str] = {}

    def confirm(self, connectors: Mapping[str, str]) -> None:
        """Let the server tell how each catalog (with its connector) reads; `ask` passes it on.

        Raises NoAnswerError: the server cannot be reached, or does not tell.
        """
        try:
            rows = self.run(CONFIRM, timeout_s=CONNECT_S).rows
        except RefusedError as refused:
            raise NoAnswerError(f"the server does not tell its settings: {refused}") from refused
        self._confirmed = confirmations(connectors, [(row[0], row[1]) for row in rows])

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        catalog, sql = self._statement(question)
        declared = tolerances.for_format(self._declared, question.format.name, question.settings)
        reply = self._run(sql, timeout_s, Tally(declared))
        return replace(reply, confirmed=self._confirmed.get(catalog, ""))

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        declared = tolerances.for_format(self._declared, "")
        return self._run(statement, timeout_s, Tally(declared))

    def _run(self, statement: str, timeout_s: float, tally: Tally) -> Reply:
        if self._read_only:
            check_reads(statement)
        started = time.monotonic()
        self._http.until = started + timeout_s
        # Values as they are sent: the library's own conversion rounds and loses names.
        query = TrinoQuery(self._request, statement, legacy_primitive_types=True)
        try:
            data = tuple(map(tuple, query.execute()))
            described = query.columns or ()
            every = trino_values.columns(described, tally)
            values = trino_values.rows(described, data, tally)
        except TrinoQueryError as error:
            raise _sorted(error, time.monotonic() - started) from error
        except ServerErrorReply as reply:
            self._cancel(query)
            raise RefusedError(internal_error(reply.body), time.monotonic() - started) from reply
        except _SILENT as problem:
            self._cancel(query)
            seconds = time.monotonic() - started
            raise NoAnswerError(f"no answer after {seconds:.1f} s: {problem}") from problem
        except _MALFORMED as problem:
            self._cancel(query)
            reason = f"the reply is not of the protocol's form: {problem!r}"
            raise NoAnswerError(reason) from problem
        seconds = time.monotonic() - started
        return query_sql.reply(every, values, seconds, statement, "", tally.applied(), data)

    def close(self) -> None:
        self._http.close()

    def _cancel(self, query: Any) -> None:  # noqa: ANN401 - untyped
        """Ask the server to end the query; it may well be gone."""
        self._http.until = time.monotonic() + CANCEL_S
        with suppress(*_SILENT):
            query.cancel()


def confirmations(connectors: Mapping[str, str], rows: list[tuple[str, str]]) -> dict[str, str]:
    """Give, by catalog, what is known of how it reads. `rows`: rows of `show session`. Pure."""
    settings: dict[str, list[str]] = {}
    for name, value in rows:
        catalog, _, setting = name.partition(".")
        if any(kind in setting for kind in _OF_FILES):
            settings.setdefault(catalog, []).append(f"{setting}={value}")
    return {
        catalog: f"catalog {catalog}, connector {kind}"
        + (f"; {', '.join(settings[catalog])} by show session" if catalog in settings else "")
        for catalog, kind in connectors.items()
    }


def _sorted(error: Any, seconds: float) -> RefusedError | NoAnswerError:  # noqa: ANN401 - untyped
    """Tell a refusal from an error that says nothing of the query."""
    refusal = refusal_of(error)
    if refusal.kind in _SAYS_NOTHING:
        return NoAnswerError(f"{refusal.kind}: {refusal.message}")
    if error.error_type == _TOO_LITTLE:
        return NoAnswerError(f"the server has too little for it: {refusal.kind}: {refusal.message}")
    thrown = refusal.cause.partition(":")[0]
    if refusal.kind == "HIVE_METASTORE_ERROR" and thrown.endswith(_METASTORE_GONE):
        return NoAnswerError(f"the server cannot reach the metastore: {refusal.cause}")
    return RefusedError(refusal, seconds)


def refusal_of(error: Any) -> Refusal:  # noqa: ANN401 - untyped
    """Return what a TrinoQueryError tells; the cause is the innermost Java exception. Pure."""
    info = error.failure_info or {}
    while info.get("cause"):
        info = info["cause"]
    cause = ""
    if info:
        top = next(iter(info.get("stack") or ()), "")
        cause = f"{info.get('type')}: {info.get('message')}" + (f" at {top}" if top else "")
    return Refusal(
        kind=str(error.error_name or error.error_type or ""),
        message=str(error.message),
        code=str(error.error_code if error.error_code is not None else ""),
        cause=cause,
    )


_THROWN: Final = re.compile(r"^(?:Caused by: )?((?:[\w$]+\.)+[\w$]+)(?:: (.*))?$", re.MULTILINE)
"""An exception in the trace that a server replies with, and its message."""


def internal_error(body: str) -> Refusal:
    r"""Return the refusal for an error that a server met in itself. Pure.

    `body`: the trace of the exception, or nothing, as the server's `ThrowableMapper` has it.
    """
    thrown = [f"{kind}: {message}" if message else kind for kind, message in _THROWN.findall(body)]
    message = thrown[0] if thrown else body.strip().partition("\n")[0]
    cause = thrown[-1] if len(thrown) > 1 else ""
    return Refusal(refusals.INTERNAL, message, str(HTTPStatus.INTERNAL_SERVER_ERROR.value), cause)
