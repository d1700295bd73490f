"""What a server leaves is found: a process, a port, a container, a volume."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from types import SimpleNamespace

import pytest

from harness.conformance import kit
from harness.conformance.kit import DockerObjects, Leftovers
from harness.conformance.results import CheckOutcome
from harness.core.errors import EnvironmentProblem
from harness.runtime import container_network, process

PASSED, FAILED = CheckOutcome.PASSED, CheckOutcome.FAILED


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "GONE_S", 0.2)
    monkeypatch.setattr(process, "POLL_S", 0.02)


@contextmanager
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as started:  # noqa: S607
        yield started


def outcomes(remains: Leftovers) -> dict[str, CheckOutcome]:
    return {name: result.outcome for name, result in remains.results().items()}


def test_a_server_that_is_gone_leaves_nothing() -> None:
    remains = Leftovers(DockerObjects)
    with remains.watching(), child(), closing(socket.create_server(("127.0.0.1", 0))) as server:
        remains.note(server.getsockname()[1])
    assert outcomes(remains) == dict.fromkeys(kit.LEFTOVER_ASSERTS, PASSED)


@pytest.mark.parametrize("late", [False, True])
def test_a_process_that_is_left_is_named(*, late: bool) -> None:
    remains = Leftovers()
    with remains.watching():
        if late:
            remains.note(0)
        started = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # noqa: S607 - of the machine
        if not late:
            remains.note(0)
    with started:
        assert remains.results()["process"].seen == f"left: cat ({started.pid})"
        assert outcomes(remains)["process"] is FAILED


def test_what_a_server_leaves_that_did_not_get_ready_is_found_too() -> None:
    remains = Leftovers()
    with suppress(EnvironmentProblem), remains.watching():
        started = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # noqa: S607 - of the machine
        raise EnvironmentProblem("it did not get ready")
    with started:
        assert remains.results()["process"].seen == f"left: cat ({started.pid})"


def test_a_port_that_somebody_listens_on_is_left() -> None:
    remains = Leftovers()
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        with remains.watching():
            remains.note(server.getsockname()[1])
        assert outcomes(remains)["port"] is FAILED


def objects(containers: str = "", mounted: str = "", volumes: str = "") -> DockerObjects:
    return DockerObjects(*(frozenset(text.split()) for text in (containers, mounted, volumes)))


def watched(*seen: DockerObjects) -> str:
    """Tell what is left where this is seen before a server, with it, after it, and so on."""
    there = iter(seen)
    remains = Leftovers(lambda: next(there))
    for _ in seen[::4]:
        with remains.watching():
            remains.note(0)
    return remains.results()["container"].seen


def test_a_container_and_a_volume_that_are_left_are_named_and_no_others() -> None:
    before = objects("metastore", "old", "old yours")
    running = objects("metastore engine", "old ours", "old yours ours")
    left = objects("metastore engine", "old", "old yours ours anybodys")
    assert watched(before, before, running, left) == "left: engine, volume ours"
    assert watched(before, before, running, before) == ""


def test_what_one_server_left_stays_known_when_the_next_one_leaves_nothing() -> None:
    none, one = objects(), objects("engine")
    assert watched(none, none, one, one, none, none, one, none) == "left: engine"


def network(monkeypatch: pytest.MonkeyPatch, *owners: str) -> Leftovers:
    """Let the daemon tell these owners once the network `ours` is closed."""
    closed = SimpleNamespace(owner="ours", close=lambda: None)
    monkeypatch.setattr(container_network, "shared", lambda: closed)
    monkeypatch.setattr(container_network, "owners", lambda: set(owners))
    remains = Leftovers(lambda: objects("metastore" if "metastore" in owners else ""))
    remains.close_network()
    return remains


def test_a_network_or_a_metastore_that_stays_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert network(monkeypatch, "yours").results()["container"].outcome is PASSED
    assert network(monkeypatch, "ours").results()["container"].seen == "left: a network"
    assert network(monkeypatch, "metastore").results()["container"].seen == "left: metastore"
