from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest

from harness.runtime import process as processes
from harness.runtime.process import (
    ATTEMPTS,
    LOOPBACK,
    Command,
    PortTakenProblem,
    Process,
    free_port,
    on_free_port,
    running,
    wait_until,
)


def test_it_is_given_up_when_every_port_was_taken() -> None:
    tried: list[int] = []

    def start(port: int) -> AbstractContextManager[int]:
        tried.append(port)
        raise PortTakenProblem(f"{port} is in use")

    with pytest.raises(PortTakenProblem), on_free_port(start):
        pass
    assert len(tried) == ATTEMPTS


SERVES = (
    "import socket, sys, signal; server = socket.socket(); "
    "server.bind(('127.0.0.1', int(sys.argv[1]))); server.listen(); signal.pause()"
)


def test_a_real_server_whose_port_somebody_took_is_started_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        taken, free = other.getsockname()[1], free_port()
        chosen = iter([taken, taken, free])
        monkeypatch.setattr(processes, "free_port", lambda: next(chosen))

        @contextmanager
        def start(port: int) -> Iterator[int]:
            arguments = (sys.executable, "-c", SERVES, str(port))
            with running(Command(arguments, tmp_path, tmp_path / f"{port}.log")) as process:
                wait_until(
                    lambda: answered(process, port),
                    process, timeout_s=60, what="it", not_yet=(ConnectionError,),
                )  # fmt: skip
                yield port

        with on_free_port(start) as port:
            assert port == free
    assert "Address already in use" in (tmp_path / f"{taken}.log").read_text()


def answered(process: Process, port: int) -> None:
    """Connect to the process, and to nobody else who listens there."""
    if not any(
        connection.laddr.port == port
        for connection in psutil.Process(process.pid).net_connections()
    ):
        raise ConnectionRefusedError(port)
