import io
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.runtime import container_network
from harness.runtime.container_network import is_dead, owner


def test_harnesses_that_ended_are_dead_and_of_other_machines_nothing_is_known() -> None:
    program = "from harness.runtime.container_network import owner; print(owner())"
    ended = subprocess.check_output([sys.executable, "-c", program], text=True).strip()
    machine, number, _, rest = owner().split("/")
    again = f"{machine}/{number}/1.00/{rest}"
    others = [owner(), "elsewhere/1/1.00/x", "nonsense", ""]
    assert list(filter(is_dead, [ended, again, *others])) == [ended, again]


def test_java_takes_the_name_of_a_network_for_the_end_of_a_host() -> None:
    names = {container_network.name() for _ in range(100)}
    assert len(names) == 100
    # java.net.URI: toplabel = alpha | alpha *( alphanum | "-" ) alphanum
    assert all(re.fullmatch("[a-z][a-z0-9-]*[a-z0-9]", name) for name in names)


def test_what_the_daemon_makes_only_after_the_death_is_removed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
