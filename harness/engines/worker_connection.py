"""Connect to a worker on loopback, which serves only who knows its token."""

from __future__ import annotations

import socket

from harness.runtime.process import LOOPBACK


def connected(port: int, token: str, hello: bytes, timeout_s: float) -> socket.socket:
    """Return a connection to a worker, once it has said that it knows the token.

    `hello`: what it says then. `timeout_s`: how long each part of it may take; what is asked later
    may take any time.

    Raises OSError: it is not there yet, or no more.
    """
    connection = socket.create_connection((LOOPBACK, port), timeout_s)
    try:
        connection.sendall(token.encode() + b"\n")
        if connection.recv(len(hello)) != hello:
            raise ConnectionError("the worker does not answer")
        connection.settimeout(None)
    except OSError:
        connection.close()
        raise
    return connection
