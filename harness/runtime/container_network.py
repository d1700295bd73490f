"""The network in which the containers of one harness reach each other, and their removal.

Testcontainers makes both; what is made bears a label that says whose it is. It is removed at the
end; by a process that outlives a harness that is killed (`python -m
harness.runtime.container_network OWNER` waits for the end of a pipe); and by the next harness,
should even that have been killed or the daemon have been away. The reaper of testcontainers, Ryuk,
does only the second, has to be pulled, and loses its connection where the daemon is slow
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
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import psutil

from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon, watchdog
from harness.runtime.process import LOOPBACK

if TYPE_CHECKING:
    from testcontainers.core.network import Network

OWNER: Final = "lake-table-harness.owner"
LATE_S: Final = 30.0
"""So long the daemon may take for what it was asked last: it goes on though nobody waits."""
LOOK_S: Final = 1.0
_BINDING: Final = "com.docker.network.bridge.host_binding_ipv4"
"""The option of a network by which the ports of its containers are published on one address."""


class ContainerNetwork:
    """A network that is made when it is first asked for. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._network: Network | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None
        self.owner = owner()
        self.labels = {OWNER: self.owner}

    def ensure(self) -> Network:
        """Return the network, in which ports are published on loopback alone."""
        with self._lock:
            if self._network is None:
                docker_daemon.configure()
                for left in filter(is_dead, owners()):
                    remove(left)
                program = ("-m", "harness.runtime.container_network", self.owner)
                self._watchdog = watchdog.start(*program)
                self._network = self._made()
            return self._network

    def _made(self) -> Network:
        from testcontainers.core.network import Network  # noqa: PLC0415

        options = {"options": {_BINDING: LOOPBACK}, "labels": self.labels}
        network = Network(docker_network_kw=options)
        network.name = name()
        return network.create()

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


def name() -> str:
    """Return a name for a network.

    Hive asks Docker what its metastore is called, and is told `container.network`. Java takes no
    host whose last part begins with a digit, as most names do that testcontainers gives.
    """
    return f"harness-{uuid4().hex}"


def owner() -> str:
    """Return what tells this harness from every other one: machine, process, start of it."""
    process = psutil.Process()
    return f"{_machine()}/{process.pid}/{process.create_time():.2f}/{uuid4().hex[:8]}"


def is_dead(owner_: str) -> bool:
    """Return whether a harness has ended; of another machine's nothing is known."""
    machine, number, began, *_ = *owner_.split("/"), "", ""
    if machine != _machine() or not number.isdigit():
        return False
    with suppress(psutil.NoSuchProcess):
        return began != f"{psutil.Process(int(number)).create_time():.2f}"
    return True


def _machine() -> str:
    """Return what tells this machine from others that share a daemon."""
    for file in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
        with suppress(OSError):
            if text := Path(file).read_text(encoding="ascii").strip():
                return text
    return os.uname().nodename


def owners() -> set[str]:
    with closing(docker_daemon.client()) as client, docker_daemon.asked("list containers"):
        containers = client.containers.list(all=True, filters={"label": OWNER})
        networks = client.networks.list(filters={"label": OWNER})
        labels = [container.labels for container in containers]
        labels += [network.attrs["Labels"] for network in networks]
        return {by_name[OWNER] for by_name in labels}


def remove(owner_: str) -> None:
    """Remove all that a harness made, as far as the daemon does it: the next harness sweeps."""
    label = f"{OWNER}={owner_}"
    with (
        suppress(EnvironmentProblem),
        closing(docker_daemon.client()) as client,
        docker_daemon.asked("remove what a harness left"),
    ):
        for container in client.containers.list(all=True, filters={"label": label}):
            with docker_daemon.unless_refused():  # it is being removed already
                container.remove(force=True, v=True)
        for network in client.networks.list(filters={"label": label}):
            with docker_daemon.unless_refused():
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
