"""A small repository on loopback, which a test can make misbehave."""

import re
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Server:
    """What is served and how; `asked` is (path, Range header) of every request."""

    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    """For each of the next requests: break the transfer off after so many bytes."""
    statuses: list[int] = field(default_factory=list)
    """For each of the next requests: answer with this status instead."""
    logins: list[tuple[str, str]] = field(default_factory=list)
    """User name and password of every request that had them."""
    location: str = ""
    """Where an answer with a status of 3xx sends the client."""
    ranges: bool = True
    url: str = ""


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that hangs up is what some tests are about."""


@contextmanager
def serving() -> Iterator[Server]:
    state = Server()
    server = _Quiet(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Sizes(BaseHTTPRequestHandler):
    files: dict[str, bytes]

    def do_HEAD(self) -> None:
        content = self.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()


def _handler(state: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(_Sizes):
        files = state.files

        def do_GET(self) -> None:
            state.asked.append((self.path, self.headers.get("Range")))
            if login := self.headers.get("Authorization"):
                user, _, password = b64decode(login.removeprefix("Basic ")).decode().partition(":")
                state.logins.append((user, password))
            content = state.files.get(self.path)
            status = state.statuses.pop(0) if state.statuses else 200 if content else 404
            if state.location and 300 <= status < 400:
                self.send_response(status)
                self.send_header("Location", state.location)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if content is None or status >= 300:
                self.send_error(status)
                return
            self._send(content)

        def _send(self, content: bytes) -> None:
            asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            start = int(asked[1]) if asked and state.ranges else 0
            self.send_response(206 if start else 200)
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            stop = start + state.breaks.pop(0) if state.breaks else len(content)
            self.wfile.write(content[start:stop])

        def log_message(self, *_: object) -> None:
            """Keep the test's output quiet."""

    return Handler
