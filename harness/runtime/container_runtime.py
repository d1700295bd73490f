"""Run a server in a container, by testcontainers and the contract of its image."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon, image
from harness.runtime.api import MetastoreUris, Program, Running, Surroundings, nothing
from harness.runtime.container_network import ContainerNetwork
from harness.runtime.image_choice import ContainerImage
from harness.runtime.process import GRACE_S, LOG_LINES, LOOK_S, Logged, ended, wait_until

if TYPE_CHECKING:
    from docker.models.containers import Container as DaemonContainer
    from testcontainers.core.container import DockerContainer


_SHARES: Final = 16384
"""A container's weight beside other processes. The default, 1024, is that of one process, whatever
runs in it: a server then got half the time that it gets outside."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContainerRuntime:
    """Servers of an image; see `api.Runtime`."""

    distribution: Distribution
    image: ContainerImage
    network: ContainerNetwork
    read_only: tuple[Path, ...] = ()
    """Folders that it reads, at the same place inside and outside."""
    writable: tuple[Path, ...] = ()
    alias: str = field(default_factory=lambda: f"engine-{uuid4().hex[:8]}")
    """The name by which other containers know its server. A run has two metastores at a time: one
    for the tables that are written, and one for those that are read."""

    @property
    def inside(self) -> str:
        return f"{self.alias}:{self.image.contract.port}"

    @contextmanager
    def start(
        self,
        program: Program,
        metastore: MetastoreUris | None,
        folder: Path,
        ready: Callable[[Running, int], T],
        end: Callable[[T], None] = nothing,
    ) -> Iterator[T]:
        uri = metastore.network if metastore else ""
        if metastore and not uri:
            raise EnvironmentProblem(f"{self.distribution.name} cannot reach {metastore.host}")
        around = self.image.contract.surroundings(uri, folder)
        (folder / "tmp").mkdir(exist_ok=True)
        what = f"{self.distribution.name} ({self.image.reference})"
        greedy = self._check_memory()
        with ExitStack() as stack:
            with docker_daemon.asked(f"start a container of {self.image.reference}"):
                declared = self._declared(program, around)
                stack.callback(_remove, declared)
                declared.start()
            container = Container(declared.get_wrapped_container(), folder / program.log, greedy)
            stack.callback(container.stop)
            port = container.published(around.port) if container.alive() else None
            if port is None:
                raise ended(what, container)
            server = wait_until(
                lambda: ready(container, port),
                container,
                timeout_s=program.ready_s,
                what=what,
                not_yet=program.not_yet,
            )
            stack.callback(end, server)
            yield server

    def _check_memory(self) -> str:
        """Check that the daemon's machine has what a container may take; say that it took more."""
        distribution, beside = self.distribution, image.BESIDE_HEAP_MB
        most_mb, has_mb = image.limit_mb(distribution), docker_daemon.describe().memory_mb
        if has_mb < most_mb:
            raise EnvironmentProblem(
                f"{distribution.name}: its container may take {most_mb} MiB (its heap and {beside} "
                f"MiB), and the Docker daemon's machine has {has_mb} MiB in all; give that machine "
                "more, or run this one as a process"
            )
        return (
            f"{distribution.name} took more memory than its container may have, {most_mb} MiB: a "
            f"heap of {distribution.heap_mb} MiB and {beside} MiB beside it; raise heap_mb in its "
            "lock data, or run it as a process"
        )

    def _declared(self, program: Program, around: Surroundings) -> DockerContainer:
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415

        contract = self.image.contract
        settings = contract.settings(program, around)
        most = f"{settings.limit_mb}m"
        result = (
            DockerContainer(self.image.reference, env=dict(settings.environment))
            .with_exposed_ports(contract.port)
            .with_network(self.network.ensure())
            .with_network_aliases(self.alias)
            .with_kwargs(
                user=f"{os.getuid()}:{os.getgid()}",
                mem_limit=most,
                memswap_limit=most,
                cpu_shares=_SHARES,
                labels=self.network.labels,
            )
        )
        if contract.command:
            result.with_command(contract.command)
        for path in contract.writable:
            # In the place of a folder of the image's own user, whose mode it has.
            result.with_tmpfs_mount(path, f"uid={os.getuid()},gid={os.getgid()}")
        for folder in self.read_only:
            result.with_volume_mapping(folder, str(folder), "ro")
        for folder in (around.folder, *self.writable):
            result.with_volume_mapping(folder, str(folder), "rw")
        for name, text in settings.files.items():
            result.with_copy_into_container(text.encode(), str(around.conf / name))
        for path, text in image.user_files(os.getuid(), os.getgid()).items():
            result.with_copy_into_container(text.encode(), path)
        return result


def _remove(container: DockerContainer) -> None:
    with docker_daemon.unless_refused():
        container.stop()


_MIB: Final = 20


class Container(Logged):
    """A container that was started; see `api.Running`."""

    def __init__(self, container: DaemonContainer, log: Path, greedy: str = "") -> None:
        """Follow what it writes to `log`, which ends with `greedy` if it took too much memory."""
        super().__init__(log)
        self._container = container
        self._greedy = greedy
        self._peak_mb = 0
        self._stats_at: tuple[float, dict[str, Any]] = 0.0, {}
        self._ended = threading.Event()
        self._writer = threading.Thread(target=self._follow, daemon=True)
        self._writer.start()

    def alive(self) -> bool:
        """Return whether it still runs; and note its memory, which nobody can tell afterwards."""
        self.peak_memory_mb()
        with docker_daemon.unless_refused():
            self._container.reload()
            if self._container.status in {"running", "created", "paused"}:
                return True
        self._ended.set()
        return False

    def published(self, port: int) -> int | None:
        result = self._container.ports.get(f"{port}/tcp")
        return int(result[0]["HostPort"]) if result else None

    def log_tail(self, lines: int = LOG_LINES) -> str:
        if self._ended.is_set():
            self._writer.join(GRACE_S)
        return super().log_tail(lines)

    def peak_memory_mb(self) -> int:
        """Return the most memory seen, in MiB, without pages of files."""
        memory = self._stats().get("memory_stats", {})
        pages = memory.get("stats", {}).get("inactive_file", 0)
        now = max(0, memory.get("usage", 0) - pages) >> _MIB
        self._peak_mb = max(self._peak_mb, now)
        return self._peak_mb

    def threads(self) -> int:
        return int(self._stats().get("pids_stats", {}).get("current", 0))

    def cpu_s(self) -> float:
        used = self._stats().get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)
        return float(used / 1e9)

    def stop(self, grace_s: float = GRACE_S) -> None:
        self.peak_memory_mb()
        with docker_daemon.unless_refused():
            self._container.stop(timeout=int(grace_s))
        self._writer.join(GRACE_S)

    def wait(self, timeout_s: float) -> int:
        try:
            return int(self._container.wait(timeout=timeout_s)["StatusCode"])
        except docker_daemon.failures() as late:
            raise TimeoutError(f"not over within {timeout_s:.0f} s") from late

    def _stats(self) -> dict[str, Any]:
        """Return what the daemon knows of its use of the machine, asked once a second at most."""
        now = time.monotonic()
        if now - self._stats_at[0] > LOOK_S:
            self._stats_at = now, {}
            with docker_daemon.unless_refused():
                result: Any = self._container.stats(stream=False, one_shot=True)
                self._stats_at = now, result
        return self._stats_at[1]

    def _follow(self) -> None:
        with docker_daemon.unless_refused(), self.log.open("ab", buffering=0) as file:
            for piece in self._container.logs(stream=True, follow=True):
                file.write(piece)
            self._container.reload()
            if self._container.attrs["State"]["OOMKilled"]:
                file.write(f"{self._greedy}\n".encode())
