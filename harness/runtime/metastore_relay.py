"""A relay between a writer and its metastore that withholds the commit of a transaction.

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

COMMIT: Final = b"\x80\x01\x00\x01" + len(b"commit_txn").to_bytes(4, "big") + b"commit_txn"
"""How a call to commit begins: version and kind of the message, the length of its name, and that
(specification of Thrift's binary protocol, "Message", strict encoding)."""
AT_ONCE: Final = 1 << 16


class CommitRelay(ThreadingTCPServer):
    """Passes everything on to a metastore, except commits while it withholds them."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, metastore: str) -> None:
        """Listen on a free port; `metastore`: its URI."""
        super().__init__((LOOPBACK, 0), _Conversation)
        address = urlsplit(metastore)
        self.metastore: Final = address.hostname, address.port
        self._withholds = threading.Event()
        self._withheld = threading.Event()

    @property
    def uri(self) -> str:
        return f"thrift://{LOOPBACK}:{self.server_address[1]}"

    @contextmanager
    def withholding(self) -> Iterator[None]:
        """Withhold every commit as long as the context lasts."""
        self._withheld.clear()
        self._withholds.set()
        try:
            yield
        finally:
            self._withholds.clear()

    def has_withheld(self) -> bool:
        return self._withheld.is_set()

    def withholds(self, message: bytes) -> bool:
        is_withheld = self._withholds.is_set() and COMMIT in message
        if is_withheld:
            self._withheld.set()
        return is_withheld


class _Conversation(BaseRequestHandler):
    """A connection of a client, and the one to the metastore that serves it."""

    server: CommitRelay

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
            if self.server.withholds(tail + text):
                break
            metastore.sendall(text)
            tail = (tail + text)[1 - len(COMMIT) :]
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
def relay(metastore: str) -> Iterator[CommitRelay]:
    with CommitRelay(metastore) as result:
        threading.Thread(target=result.serve_forever, daemon=True).start()
        try:
            yield result
        finally:
            result.shutdown()
