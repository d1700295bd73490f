"""What the servers of a reader leave behind: processes, a port, objects of the Docker daemon."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

import psutil

from harness.conformance.results import CheckOutcome, CheckResult, failed, unknown
from harness.core.errors import HarnessError
from harness.runtime import container_network, docker_daemon
from harness.runtime.process import LOOPBACK, POLL_S, until

GONE_S: Final = 15.0
"""How long something that was ended may take to be gone."""

PROCESS: Final = "process"
PORT: Final = "port"
OBJECTS: Final = "container"
LEFTOVER_ASSERTS: Final[Mapping[str, str]] = {
    PROCESS: "no process is left, however a server ended",
    PORT: "nobody listens on its port any more",
    OBJECTS: "no container, volume or network is left",
}


@dataclass(frozen=True, slots=True)
class DockerObjects:
    containers: frozenset[str] = frozenset()
    mounted: frozenset[str] = frozenset()
    volumes: frozenset[str] = frozenset()
    """All volumes, anybody's: they bear no label."""


def docker_objects() -> DockerObjects:
    """Return what there is at the Docker daemon.

    Raises EnvironmentProblem: none answers.
    """
    label = f"{container_network.OWNER}={container_network.shared().owner}"
    with closing(docker_daemon.client()) as client:
        containers = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
        mounts = (mount for container in containers for mount in container.attrs["Mounts"])
        return DockerObjects(
            frozenset(str(container.name) for container in containers),
            frozenset(str(mount["Name"]) for mount in mounts if mount["Type"] == "volume"),
            frozenset(str(volume.name) for volume in client.volumes.list()),
        )


class Leftovers:
    """Looks for what the servers of one reader leave behind."""

    def __init__(self, look: Callable[[], DockerObjects] | None = None) -> None:
        """`look`: returns what there is at the Docker daemon; None where it is not asked."""
        self.problem = ""
        """Why it could not be looked for."""
        self.left: dict[str, list[str]] = {name: [] for name in LEFTOVER_ASSERTS}
        self._look = look or DockerObjects
        self._contained = look is not None
        self._running: tuple[psutil.Process, ...] = ()
        self._port = 0
        self._mounted: frozenset[str] = frozenset()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look for what is left, however the context ends, of what began in it.

        Where that cannot be looked for at the end, the results are unknown.
        """
        before, there = _children(), self._look()
        self.note(0)
        try:
            yield
        finally:
            try:
                self._end(before, there)
            except HarnessError as problem:
                self.problem = str(problem)

    def _end(self, before: Sequence[psutil.Process], there: DockerObjects) -> None:
        running = [process for process in self._running if process not in before]
        psutil.wait_procs(running, timeout=GONE_S)
        known = {*before, *running}
        later = [child for child in _children() if child not in known]
        self.left[PROCESS] += [_named(process) for process in (*running, *later) if _runs(process)]
        if self._port and not until(lambda: not _listened_on(self._port), GONE_S):
            self.left[PORT].append(f"{LOOPBACK}:{self._port}")
        now = self._look()
        volumes = (self._mounted - there.mounted) & now.volumes
        self.left[OBJECTS] += sorted(now.containers - there.containers)
        self.left[OBJECTS] += [f"volume {volume}" for volume in sorted(volumes)]

    def note(self, port: int) -> None:
        """Note what runs, while a server does; `port`: its own, 0 where it has none."""
        self._running, self._port = tuple(_children()), port
        self._mounted = self._look().mounted

    def close_network(self) -> None:
        """Remove the network when no container needs it any more, and look whether it is gone."""
        if self._contained:
            self.left[OBJECTS] += sorted(self._look().containers)
            network = container_network.shared()
            network.close()
            if network.owner in container_network.owners():
                self.left[OBJECTS].append("a network")

    def results(self) -> Mapping[str, CheckResult]:
        if self.problem:
            return dict.fromkeys(self.left, unknown(self.problem))
        by_check = {
            name: failed(f"left: {', '.join(left)}") if left else CheckResult()
            for name, left in self.left.items()
        }
        if not self._contained:
            by_check[OBJECTS] = CheckResult(CheckOutcome.NOT_APPLICABLE, "it runs as a process")
        return by_check


def _children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"{process.name()} ({process.pid})"
    except psutil.NoSuchProcess:
        return str(process.pid)


def _listened_on(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(POLL_S)
        return probe.connect_ex((LOOPBACK, port)) == 0
