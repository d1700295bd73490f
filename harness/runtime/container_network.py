"""The network in which the containers of one harness reach each other, and their removal.

All that is made carries labels that say whose it is. It is removed at the end; by a process that
outlives the harness when that is killed: `python -m harness.runtime.container_network OWNER` waits
for the end of its standard input, a pipe of which only the harness holds the other end; and by the
next harness, should even that have been killed or the daemon have been away. The reaper of
testcontainers would have to be pulled, and loses its connection where the daemon is slow
(testcontainers-python issue 1114).
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import psutil

from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon, watchdog
from harness.runtime.process import LOOPBACK

if TYPE_CHECKING:
    from docker import DockerClient
    from testcontainers.core.network import Network


OWNER: Final = "lake-table-harness.owner"
"""The label that says by which harness something was made."""
LATE_S: Final = 30.0
"""So long the daemon may take for what it was asked last: it goes on though nobody waits."""
LOOK_S: Final = 1.0
_THIS: Final = "harness.runtime.container_network"
_BINDING: Final = "com.docker.network.bridge.host_binding_ipv4"
"""The option of a network by which the ports of its containers are published on one address."""


class ContainerNetwork:
    """A network that is made when it is first asked for. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._network: Network | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None
        self.owner = owner()

    @property
    def labels(self) -> Mapping[str, str]:
        return {OWNER: self.owner}

    def ensure(self) -> Network:
        """Return the network, in which ports are published on loopback alone.

        Raises EnvironmentProblem: no daemon answers.
        """
        with self._lock:
            if self._network is None:
                docker_daemon.configure()
                sweep()
                self._watchdog = watchdog.start("-m", _THIS, self.owner)
                self._network = _network(self.labels)
            return self._network

    def close(self) -> None:
        with self._lock:
            if self._network is not None:
                remove(self.owner)
                self._network = None
            if self._watchdog is not None:
                watchdog.stop(self._watchdog)
                self._watchdog = None


@cache
def shared() -> ContainerNetwork:
    """Return the network of this process, which goes with it."""
    network = ContainerNetwork()
    atexit.register(network.close)
    return network


def owner() -> str:
    """Return what tells this harness from every other one: machine, start of it, process."""
    process = psutil.Process()
    return f"{_machine()}/{process.pid}/{process.create_time():.2f}/{uuid4().hex[:8]}"


def dead(owners: Iterable[str]) -> set[str]:
    return {text for text in owners if _is_dead(text)}


def sweep() -> None:
    for text in dead(owners()):
        remove(text)


def _is_dead(text: str) -> bool:
    machine, _, rest = text.partition("/")
    number, _, began = rest.partition("/")
    if machine != _machine() or not number.isdigit():
        return False
    with suppress(psutil.NoSuchProcess):
        return not began.startswith(f"{psutil.Process(int(number)).create_time():.2f}")
    return True


def _machine() -> str:
    """Return what tells this machine from others that share a daemon."""
    for name in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
        with suppress(OSError):
            if text := Path(name).read_text(encoding="ascii").strip():
                return text
    return os.uname().nodename


def _network(labels: Mapping[str, str]) -> Network:
    from testcontainers.core.network import Network  # noqa: PLC0415

    options: dict[str, Any] = {"options": {_BINDING: LOOPBACK}, "labels": dict(labels)}
    network = Network(docker_network_kw=options)
    network.name = name()
    return network.create()


def name() -> str:
    """Return a name for a network.

    Hive asks Docker what its metastore is called, and is told `container.network`. Java takes no
    host whose last part begins with a digit, as most names do that testcontainers gives.
    """
    return f"harness-{uuid4().hex}"


def owners() -> set[str]:
    """Return who made what is there.

    Raises EnvironmentProblem: no daemon answers.
    """
    with closing(docker_daemon.client()) as client, docker_daemon.asked("list containers"):
        every = [
            *(
                container.labels
                for container in client.containers.list(all=True, filters={"label": OWNER})
            ),
            *(
                network.attrs["Labels"]
                for network in client.networks.list(filters={"label": OWNER})
            ),
        ]
        return {labels[OWNER] for labels in every}


def remove(owner: str) -> None:
    """Remove all that is labelled with an owner; what is being removed already is left.

    So is all of it where the daemon is away: the next harness sweeps.
    """
    with (
        suppress(EnvironmentProblem),
        closing(docker_daemon.client()) as client,
        docker_daemon.asked("remove what a harness left"),
    ):
        _remove(client, f"{OWNER}={owner}")


def _remove(client: DockerClient, label: str) -> None:
    from docker.errors import DockerException  # noqa: PLC0415

    for container in client.containers.list(all=True, filters={"label": label}):
        with suppress(DockerException):
            container.remove(force=True, v=True)
    for network in client.networks.list(filters={"label": label}):
        with suppress(DockerException):
            network.remove()


def main() -> None:
    """Wait for the end of the harness, then remove what it left, and what comes to be later."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.read()
    until = time.monotonic() + LATE_S
    while time.monotonic() < until:
        remove(sys.argv[1])
        time.sleep(LOOK_S)


if __name__ == "__main__":
    main()
