"""What a server leaves is found: a process, a port, a container, a volume."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from harness.conformance import leftovers
from harness.conformance.leftovers import DockerObjects, Leftovers
from harness.conformance.results import CheckOutcome

PASSED, FAILED = CheckOutcome.PASSED, CheckOutcome.FAILED


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "GONE_S", 0.2)
    monkeypatch.setattr(leftovers, "LOOK_S", 0.02)


@contextmanager
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the context."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as started:  # noqa: S607
        yield started


def outcomes(found: Leftovers) -> dict[str, CheckOutcome]:
    return {name: result.outcome for name, result in found.results().items()}


def test_a_server_that_is_gone_leaves_nothing() -> None:
    found = Leftovers(DockerObjects)
    with found.watching(), child(), closing(socket.create_server(("127.0.0.1", 0))) as server:
        found.note(server.getsockname()[1])
    assert outcomes(found) == dict.fromkeys(leftovers.ASSERTS, PASSED)


def test_a_process_that_was_there_before_is_none_that_is_left() -> None:
    found = Leftovers()
    with child(), found.watching():
        found.note(0)
    assert outcomes(found)["process"] is PASSED


@pytest.mark.parametrize("late", [False, True])
def test_a_process_that_is_left_is_named(*, late: bool) -> None:
    found = Leftovers()
    with found.watching():
        if late:
            found.note(0)
        started = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # noqa: S607 - of the machine
        if not late:
            found.note(0)
    with started:
        assert found.results()["process"].seen == f"left: cat ({started.pid})"
        assert outcomes(found)["process"] is FAILED


def test_a_port_that_somebody_listens_on_is_left() -> None:
    found = Leftovers()
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        with found.watching():
            found.note(server.getsockname()[1])
        assert outcomes(found)["port"] is FAILED


def test_a_container_and_a_volume_that_are_left_are_named_and_older_ones_are_not() -> None:
    old = DockerObjects(frozenset({"metastore"}), frozenset({"yours"}))
    new = DockerObjects(frozenset({"metastore", "engine"}), frozenset({"yours", "ours"}))
    there = iter([old, new])
    found = Leftovers(lambda: next(there))
    with found.watching():
        pass
    assert found.results()["container"].seen == "left: engine, volume ours"


def test_what_one_server_left_stays_known_when_the_next_one_leaves_nothing() -> None:
    there = iter([frozenset[str](), frozenset({"engine"}), frozenset({"engine"}), frozenset[str]()])
    found = Leftovers(lambda: DockerObjects(next(there)))
    for _ in range(2):
        with found.watching():
            pass
    assert found.results()["container"].seen == "left: engine"


def test_of_a_process_no_daemon_is_asked() -> None:
    assert outcomes(Leftovers())["container"] is CheckOutcome.NOT_APPLICABLE
