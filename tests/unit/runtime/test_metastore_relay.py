import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Queue
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest

from harness.runtime.metastore_relay import COMMIT, CallRelay, relay
from harness.runtime.process import LOOPBACK

LIMIT_S = 10.0


class Echo(ThreadingTCPServer):
    """Sends back whatever it receives; `heard`: what it received."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__((LOOPBACK, 0), _Answer)
        self.heard: Queue[bytes] = Queue()


class _Answer(BaseRequestHandler):
    server: Echo

    def handle(self) -> None:
        while received := self.request.recv(1 << 16):
            self.server.heard.put(received)
            self.request.sendall(received)
        self.server.heard.put(b"")


@dataclass(frozen=True, slots=True)
class Through:
    relay: CallRelay
    echo: Echo
    clients: list[socket.socket] = field(default_factory=list)

    def client(self) -> socket.socket:
        connection = connected(self.relay)
        self.clients.append(connection)
        return connection

    def heard(self) -> bytes:
        return self.echo.heard.get(timeout=LIMIT_S)


def connected(to: CallRelay) -> socket.socket:
    return socket.create_connection((LOOPBACK, to.server_address[1]), LIMIT_S)


@pytest.fixture(name="through")
def _through() -> Iterator[Through]:
    with _serving(Echo()) as echo, relay(uri_of(echo)) as open_relay:
        made = Through(open_relay, echo)
        yield made
        for client in made.clients:
            client.close()


def uri_of(echo: Echo) -> str:
    return f"thrift://{LOOPBACK}:{echo.server_address[1]}"


@contextmanager
def _serving(server: Echo) -> Iterator[Echo]:
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def received(client: socket.socket, text: bytes) -> bytes:
    client.sendall(text)
    content = b""
    while len(content) < len(text):
        content += client.recv(1 << 16)
    return content


def test_all_is_handed_on_and_answered_and_a_commit_too_unless_they_are_retained(
    through: Through,
) -> None:
    client = through.client()
    for text in (b"get_table", COMMIT + b"7", b"x" * 200_000):
        assert received(client, text) == text
    assert not through.relay.has_withheld()


def test_a_commit_that_is_retained_never_comes_and_all_else_goes_on(through: Through) -> None:
    client, other = through.client(), through.client()
    assert received(client, b"open_txns") == through.heard()
    with through.relay.withholding():
        assert not through.relay.has_withheld()
        client.sendall(COMMIT + b"7")
        assert through.relay._withheld.wait(LIMIT_S)
        assert received(other, b"heartbeat") == through.heard()
        client.close()
        assert through.heard() == b"", "the metastore is told that its client is gone"
    assert received(other, COMMIT + b"8") == through.heard()


def test_who_still_waits_when_nothing_is_withheld_any_more_has_to_call_again(
    through: Through,
) -> None:
    client = through.client()
    with through.relay.withholding():
        client.sendall(COMMIT + b"7")
        assert through.relay._withheld.wait(LIMIT_S)
        assert len(through.relay.waiting) == 1
    assert client.recv(1) == b""
    assert through.heard() == b""
    assert received(through.client(), COMMIT + b"7") == through.heard()


def test_the_name_of_the_call_may_come_in_two_parts(through: Through) -> None:
    client = through.client()
    with through.relay.withholding():
        assert received(client, b"x" + COMMIT[:9]) == through.heard()
        client.sendall(COMMIT[9:] + b"7")
        assert through.relay._withheld.wait(LIMIT_S)
        client.close()
        assert through.heard() == b""


def test_the_answer_to_who_is_gone_is_no_failure(through: Through) -> None:
    client = through.client()
    client.sendall(b"show_locks")
    client.close()
    assert (through.heard(), through.heard()) == (b"show_locks", b"")


def test_a_connection_without_a_metastore_ends() -> None:
    with _serving(Echo()) as echo:
        uri = uri_of(echo)
    with relay(uri) as open_relay, connected(open_relay) as client:
        assert client.recv(1) == b""
