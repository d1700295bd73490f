"""A relay between a writer and its metastore that withholds a call, such as a transaction's commit.

All files of the write are in the table's folder when `commit_txn` is called (Hive documentation,
"Hive Transactions"; `Driver.runInternal` of Hive 3.1.3): who sends it gets no answer.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Final
from urllib.parse import urlsplit

from harness.runtime.process import LOOPBACK


def beginning_of(call: bytes) -> bytes:
    """Return how a call begins: version and kind of the message, the length of its name, and that.

    Specification of Thrift's binary protocol, "Message", strict encoding.
    """
    return b"\x80\x01\x00\x01" + len(call).to_bytes(4, "big") + call


COMMIT: Final = beginning_of(b"commit_txn")
AT_ONCE: Final = 1 << 16


class CallRelay(ThreadingTCPServer):
    """Passes everything on to a metastore, except one kind of call while it withholds it."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, metastore: str, call: bytes = COMMIT) -> None:
        """Listen on a free port; `metastore`: its URI; `call`: how what is withheld begins."""
        super().__init__((LOOPBACK, 0), _Conversation)
        address = urlsplit(metastore)
        self.metastore: Final = address.hostname, address.port
        self._withholds = threading.Event()
        self._withheld = threading.Event()
        self.call: Final = call
        self.waiting: Final = list[socket.socket]()
        """The connections of those whose call was withheld."""

    @property
    def uri(self) -> str:
        return f"thrift://{LOOPBACK}:{self.server_address[1]}"

    @contextmanager
    def withholding(self) -> Iterator[None]:
        """Withhold every such call as long as the context lasts.

        Then those who still wait lose their connection, by which a client of Hive calls again.
        """
        self._withheld.clear()
        self._withholds.set()
        try:
            yield
        finally:
            self._withholds.clear()
            for client in self.waiting:
                with suppress(OSError):  # it is gone
                    client.shutdown(socket.SHUT_RDWR)
            self.waiting.clear()

    def has_withheld(self) -> bool:
        return self._withheld.is_set()

    def withholds(self, message: bytes, client: socket.socket) -> bool:
        is_withheld = self._withholds.is_set() and self.call in message
        if is_withheld:
            self.waiting.append(client)
            self._withheld.set()
        return is_withheld


class _Conversation(BaseRequestHandler):
    """A connection of a client, and the one to the metastore that serves it."""

    server: CallRelay

    def handle(self) -> None:
        with suppress(OSError), socket.create_connection(self.server.metastore) as metastore:
            back = threading.Thread(target=_hand_on, args=(metastore, self.request), daemon=True)
            back.start()
            with suppress(OSError):  # one that was killed resets the connection
                self._hand_on(metastore)
            metastore.shutdown(socket.SHUT_RDWR)  # closing it would not end the other thread

    def _hand_on(self, metastore: socket.socket) -> None:
        tail = b""
        for text in _bytes_from(self.request):
            if self.server.withholds(tail + text, self.request):
                break
            metastore.sendall(text)
            tail = (tail + text)[1 - len(self.server.call) :]
        for _ in _bytes_from(self.request):  # until the client is gone: it gets no answer
            pass


def _hand_on(speaker: socket.socket, listener: socket.socket) -> None:
    with suppress(OSError):
        for text in _bytes_from(speaker):
            listener.sendall(text)
        listener.shutdown(socket.SHUT_WR)


def _bytes_from(speaker: socket.socket) -> Iterator[bytes]:
    while text := speaker.recv(AT_ONCE):
        yield text


@contextmanager
def relay(metastore: str, call: bytes = COMMIT) -> Iterator[CallRelay]:
    with CallRelay(metastore, call) as result:
        threading.Thread(target=result.serve_forever, daemon=True).start()
        try:
            yield result
        finally:
            result.shutdown()
