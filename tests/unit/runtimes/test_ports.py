from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.runtimes.ports import ATTEMPTS, PortTakenProblem, free_port, on_free_port


def test_a_free_port_can_be_listened_on() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", free_port()))
        server.listen()


class Starts:
    """A server whose port is taken the first few times."""

    def __init__(self, taken: int) -> None:
        self.ports: list[int] = []
        self.taken = taken
        self.ended = 0

    @contextmanager
    def start(self, port: int) -> Iterator[int]:
        self.ports.append(port)
        if len(self.ports) <= self.taken:
            raise PortTakenProblem(f"{port} is in use")
        try:
            yield port
        finally:
            self.ended += 1


def test_another_port_is_chosen_when_the_first_was_taken() -> None:
    starts = Starts(taken=1)
    with on_free_port(starts.start) as port:
        assert port == starts.ports[1]
        assert starts.ended == 0
    assert (len(starts.ports), starts.ended) == (2, 1)


def test_it_is_given_up_when_every_port_was_taken() -> None:
    starts = Starts(taken=ATTEMPTS)
    with pytest.raises(PortTakenProblem), on_free_port(starts.start):
        pass
    assert len(starts.ports) == ATTEMPTS


def test_a_taken_port_later_on_does_not_start_the_server_again() -> None:
    starts = Starts(taken=0)
    with pytest.raises(PortTakenProblem), on_free_port(starts.start):
        raise PortTakenProblem("of something else")
    assert (len(starts.ports), starts.ended) == (1, 1)
