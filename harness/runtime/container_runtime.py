"""Run a server in a container, by testcontainers and the contract of its image."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem
from harness.runtime import container_settings, docker_daemon
from harness.runtime.api import MetastoreUris, Program, Running, Surroundings
from harness.runtime.container import Container
from harness.runtime.container_network import ContainerNetwork
from harness.runtime.image_choice import ContainerImage
from harness.runtime.readiness import ended, wait_until

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

_SHARES: Final = 16384
"""A container's weight beside other processes. The default, 1024, is that of one process, whatever
runs in it: a server then got half the time that it gets outside."""

T = TypeVar("T")


def _small_daemon(distribution: str, most_mb: int, has_mb: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{distribution}: its container may take {most_mb} MiB (its heap and "
        f"{container_settings.BESIDE_HEAP_MB} MiB), and the Docker daemon's machine has "
        f"{has_mb} MiB in all; "
        "give that machine more, or run this one as a process"
    )


@dataclass(frozen=True, slots=True)
class ContainerRuntime:
    """Servers of an image; see `api.Runtime`."""

    distribution: Distribution
    image: ContainerImage
    network: ContainerNetwork
    read_only: tuple[Path, ...] = ()
    """Folders that it reads, at the same place inside and outside."""
    writable: tuple[Path, ...] = ()
    """Folders that it writes as well."""
    alias: str = field(default_factory=lambda: f"engine-{uuid4().hex[:8]}")
    """The name by which other containers know its server. A run has two metastores at a time: one
    for the tables that are written, and one for those that are read."""

    @property
    def inside(self) -> str:
        """Return how other containers reach its server."""
        return f"{self.alias}:{self.image.contract.port}"

    @contextmanager
    def start(
        self,
        program: Program,
        metastore: MetastoreUris | None,
        folder: Path,
        ready: Callable[[Running, int], T],
    ) -> Iterator[T]:
        """Start a container, its port published on loopback; see `Runtime.start`."""
        uri = metastore.network if metastore else ""
        if metastore and not uri:
            raise EnvironmentProblem(f"{self.distribution.name} cannot reach {metastore.host}")
        around = container_settings.surroundings(self.image.contract, uri, folder)
        (folder / "tmp").mkdir(exist_ok=True)
        what = f"{self.distribution.name} ({self.image.reference})"
        with self._container(program, around) as container:
            port = container.published(around.port) if container.alive() else None
            if port is None:
                raise ended(what, container)
            yield wait_until(
                lambda: ready(container, port),
                container,
                timeout_s=program.ready_s,
                what=what,
                not_yet=program.not_yet,
            )

    @contextmanager
    def _container(self, program: Program, around: Surroundings) -> Iterator[Container]:
        if (has := docker_daemon.about().memory_mb) < self._most_mb:
            raise _small_daemon(self.distribution.name, self._most_mb, has)
        with ExitStack() as stack:
            with docker_daemon.asked(f"start a container of {self.image.reference}"):
                declared = self._declared(program, around)
                stack.callback(_remove, declared)
                declared.start()
            found = Container(
                declared.get_wrapped_container(), around.folder / program.log, self._too_much()
            )
            stack.callback(found.stop)
            yield found

    @property
    def _most_mb(self) -> int:
        return container_settings.limit_mb(self.distribution)

    def _too_much(self) -> str:
        return (
            f"{self.distribution.name} took more memory than its container may have, "
            f"{self._most_mb} MiB: a heap of {self.distribution.heap_mb} MiB and "
            f"{container_settings.BESIDE_HEAP_MB} MiB beside it; raise heap_mb in its lock data, "
            "or run it as a process"
        )

    def _declared(self, program: Program, around: Surroundings) -> DockerContainer:
        """Return the container with all that it gets; nothing runs yet."""
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415

        contract = self.image.contract
        given = container_settings.settings(contract, program, around)
        found = (
            DockerContainer(self.image.reference, env=dict(given.environment))
            .with_exposed_ports(contract.port)
            .with_network(self.network.made())
            .with_network_aliases(self.alias)
            .with_kwargs(**self._limits(given.limit_mb))
        )
        if contract.command:
            found.with_command(contract.command)
        for place in contract.writable:
            # In the place of a folder of the image's own user, whose mode it has.
            found.with_tmpfs_mount(place, f"uid={os.getuid()},gid={os.getgid()}")
        for folder in self.read_only:
            found.with_volume_mapping(folder, str(folder), "ro")
        for folder in (around.folder, *self.writable):
            found.with_volume_mapping(folder, str(folder), "rw")
        for name, text in given.files.items():
            found.with_copy_into_container(text.encode(), str(around.conf / name))
        for place, text in container_settings.names(os.getuid(), os.getgid()).items():
            found.with_copy_into_container(text.encode(), place)
        return found

    def _limits(self, limit_mb: int) -> dict[str, Any]:
        most = f"{limit_mb}m"
        return {
            "user": f"{os.getuid()}:{os.getgid()}",
            "mem_limit": most,
            "memswap_limit": most,
            "cpu_shares": _SHARES,
            "labels": dict(self.network.labels),
        }


def _remove(container: DockerContainer) -> None:
    """Remove a container; should the daemon be away, a sweep does later."""
    from docker.errors import DockerException  # noqa: PLC0415

    with suppress(DockerException, OSError):
        container.stop()
