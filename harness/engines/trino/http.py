"""What the `trino` client library sends its requests over, instead of a session of `requests`.

A query is five requests or so, each of which waits at the server, so none can be left out; most of
what they took of the harness's CPU were the layers of `requests` (docs/results/benchmark.md).
PrestoSQL and PrestoDB speak the same protocol as Trino, but for the first part of the names of its
HTTP headers. The library knows only Trino's, so they are renamed where requests leave and replies
arrive.
"""

from __future__ import annotations

import io
import json
import math
import select
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, Final
from urllib.parse import urlsplit

from requests import Response
from requests.structures import CaseInsensitiveDict

from harness.engines.trino.values import entries

LIBRARY_PREFIX: Final = "X-Trino"

Headers = Mapping[str, str | None]
"""Of a request; those without a value are not sent."""


class ServerErrorReply(HTTPException):
    """The server met something in itself while it answered, and replied that it did (500)."""

    def __init__(self, body: str) -> None:
        """`body`: what it replied, the trace of an exception or nothing."""
        super().__init__(f"error {HTTPStatus.INTERNAL_SERVER_ERROR.value}: {body}")
        self.body = body


class HttpSession:
    """One connection; no request goes on when the time of the whole query is over.

    It has what the library uses of a session: `headers`, and a method for each of HTTP's.
    """

    def __init__(self, host: str, port: int, prefix: str) -> None:
        """`prefix`: `X-Trino` or `X-Presto`. Nothing is sent yet."""
        self.headers: dict[str, str | None] = {}
        """Sent with each request; the library fills them."""
        self.until = math.inf
        """On the monotonic clock."""
        # The servers are on this machine: no proxy and no password file has a say.
        self._http = HTTPConnection(host, port)
        self._prefix = prefix

    def get(self, url: str, *, headers: Headers, **_: object) -> Response:
        """Ask for what a reply named; raises as `post` does."""
        return self._sent("GET", url, headers)

    def head(self, url: str, *, headers: Headers, **_: object) -> Response:
        """Ask whether something is there; raises as `post` does."""
        return self._sent("HEAD", url, headers)

    def delete(self, url: str, **_: object) -> Response:
        """End a query; raises as `post` does."""
        return self._sent("DELETE", url, {})

    def post(self, url: str, *, data: bytes, headers: Headers, **_: object) -> Response:
        """Send a statement.

        Raises:
            OSError: there is no reply in the time for the query.
            HTTPException: what was replied is not HTTP.
            ServerErrorReply: the server met an error in itself.

        """
        return self._sent("POST", url, headers, data)

    def close(self) -> None:
        """End the connection; never raises."""
        self._http.close()

    def _sent(self, method: str, url: str, headers: Headers, body: bytes | None = None) -> Response:
        """Send one request; repeat and follow nothing, which would hide that it failed."""
        told = self._renamed({**self.headers, **headers})
        path = urlsplit(url)._replace(scheme="", netloc="").geturl()
        try:
            self._within()
            self._http.request(method, path, body, told)
            reply = self._http.getresponse()
            body = reply.read()
        except (OSError, HTTPException):
            self._http.close()  # half a reply may be on its way; the next request connects anew
            raise
        if reply.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ServerErrorReply(body.decode(errors="replace"))
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

    def _renamed(self, headers: Headers) -> dict[str, str]:
        given = ((name, value) for name, value in headers.items() if value is not None)
        return {_other(name, LIBRARY_PREFIX, self._prefix): value for name, value in given}


def _as_requests(reply: HTTPResponse, body: bytes, prefix: str) -> Response:
    """Return a reply as the library wants it, its headers called as Trino calls them."""
    found = Response()
    found.status_code, found.raw = reply.status, io.BytesIO(whole(body))
    named = ((_other(name, prefix, LIBRARY_PREFIX), value) for name, value in reply.getheaders())
    found.headers = CaseInsensitiveDict(named)
    return found


def whole(body: bytes) -> bytes:
    """Return a reply in which no entry of a map is lost to who reads it into Python's dicts.

    The library reads a reply itself: an object with a key twice becomes a list of its pairs before,
    which no server sends for a map. A reply without one stays as it is.
    """
    if b'"map"' not in body:  # as columns of that type are described
        return body
    doubled = False

    def kept(pairs: list[tuple[str, Any]]) -> Any:  # noqa: ANN401 - any JSON
        nonlocal doubled
        found = entries(pairs)
        doubled |= isinstance(found, list)
        return found

    try:
        read = json.loads(body, object_pairs_hook=kept)
    except (RecursionError, ValueError):  # who reads it next tells why
        return body
    return json.dumps(read).encode() if doubled else body


def _other(name: str, old: str, new: str) -> str:
    """Return the name of a header with another first part.

    >>> _other("x-presto-set-session", "X-Presto", "X-Trino")
    'X-Trino-set-session'
    >>> _other("Content-Type", "X-Presto", "X-Trino")
    'Content-Type'
    """
    begins = name.lower().startswith(f"{old}-".lower())
    return new + name[len(old) :] if begins else name
