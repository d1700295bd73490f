"""Run a server in a container, by testcontainers and the contract of its image."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem
from harness.runtime.api import MetastoreUris, Program, Running, Surroundings
from harness.runtime.container import Container
from harness.runtime.container_network import ContainerNetwork
from harness.runtime.image_choice import ContainerImage
from harness.runtime.readiness import wait_until

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - inside of the container; it is published on loopback
BESIDE_HEAP_MB: Final = 1024
"""What a server may take beside its heap, in MiB, before the kernel ends it."""
_SHARES: Final = 16384
"""A container's weight beside other processes. The default, 1024, is that of one process, whatever
runs in it: a server then got half the time that it gets outside."""

T = TypeVar("T")


def limit_mb(distribution: Distribution) -> int:
    """Return what a container of a distribution may take of memory, in MiB."""
    return distribution.heap_mb + BESIDE_HEAP_MB


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
        contract = self.image.contract
        uri = metastore.network if metastore else ""
        if metastore and not uri:
            raise EnvironmentProblem(f"{self.distribution.name} cannot reach {metastore.host}")
        front = f"{contract.front}/*" if contract.front else ""
        around = Surroundings(
            EVERYWHERE, contract.port, uri, folder, Path(contract.configuration), front
        )
        (folder / "tmp").mkdir(exist_ok=True)
        with self._container(program, around) as (container, port):
            yield wait_until(
                lambda: ready(container, port),
                container,
                timeout_s=program.ready_s,
                what=f"{self.distribution.name} ({self.image.reference})",
                not_yet=program.not_yet,
            )

    @contextmanager
    def _container(self, program: Program, around: Surroundings) -> Iterator[tuple[Container, int]]:
        with self._declared(program, around) as started:
            found = Container(started.get_wrapped_container(), around.folder / program.log)
            try:
                yield found, started.get_exposed_port(around.port)
            finally:
                found.stop()

    def _declared(self, program: Program, around: Surroundings) -> DockerContainer:
        """Return the container with all that it gets; nothing runs yet."""
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415

        contract, distribution = self.image.contract, self.distribution
        variables = {**contract.variables(distribution), **program.environment(around)}
        found = (
            DockerContainer(self.image.reference, env={"TZ": "UTC", **variables})
            .with_exposed_ports(contract.port)
            .with_network(self.network.made())
            .with_network_aliases(self.alias)
            .with_kwargs(**self._limits())
        )
        if contract.command:
            found.with_command(contract.command)
        for place in contract.writable:
            found.with_tmpfs_mount(place)
        for folder in self.read_only:
            found.with_volume_mapping(folder, str(folder), "ro")
        for folder in (around.folder, *self.writable):
            found.with_volume_mapping(folder, str(folder), "rw")
        for name, text in self._files(program, around).items():
            found.with_copy_into_container(text.encode(), str(around.conf / name))
        return found

    def _files(self, program: Program, around: Surroundings) -> Mapping[str, str]:
        own = self.image.contract.own_files(self.distribution)
        return {**own, **program.files(around)}

    def _limits(self) -> dict[str, Any]:
        most = f"{limit_mb(self.distribution)}m"
        return {
            "user": f"{os.getuid()}:{os.getgid()}",
            "mem_limit": most,
            "memswap_limit": most,
            "cpu_shares": _SHARES,
            "labels": dict(self.network.labels),
        }
