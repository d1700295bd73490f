"""What removes the containers of a harness that was killed."""

from __future__ import annotations

import io
import signal
import sys
from types import SimpleNamespace

import pytest

from harness.runtime import container_network


def test_what_the_daemon_makes_only_after_the_death_is_removed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The daemon goes on with what it was asked for, though nobody waits for it."""
    left = [{"a container"}, set[str](), {"one that came to be later"}]
    gone: list[set[str]] = []
    clock = iter([0.0, 0.0, 10.0, 20.0, container_network.LATE_S])
    monkeypatch.setattr(
        container_network,
        "time",
        SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda _: None),
    )
    monkeypatch.setattr(container_network, "remove", lambda _: gone.append(left.pop(0)))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys, "argv", ["", "owner"])
    container_network.main()
    assert left == []
    assert {"one that came to be later"} in gone
