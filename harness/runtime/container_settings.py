"""What a container of an engine is started with, by the contract of its image. Pure.

It is the same for a container that the harness starts and for one of a stack that people start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.runtime import process
from harness.runtime.api import Configuration, Surroundings
from harness.runtime.image import ImageContract

EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - inside of the container; it is published on loopback
BESIDE_HEAP_MB: Final = 1024
"""What a server may take beside its heap, in MiB, before the kernel ends it."""
_NAME: Final = "harness"
"""What the user is called in a container: Hadoop does not run as a number without a name."""


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """What a container is started with: variables, files and its limit of memory."""

    environment: Mapping[str, str]
    files: Mapping[str, str]
    """Texts by their path in its folder of configuration."""
    limit_mb: int
    """Of memory, in MiB."""


def surroundings(contract: ImageContract, metastore: str, folder: Path) -> Surroundings:
    """Return where a server runs in a container; `folder` is at the same place inside and outside.

    `metastore`: its URI from containers; empty for the metastore itself.
    """
    front = f"{contract.front}/*" if contract.front else ""
    conf = Path(contract.configuration)
    return Surroundings(EVERYWHERE, contract.port, metastore, folder, conf, front)


def settings(
    contract: ImageContract, configuration: Configuration, around: Surroundings
) -> ContainerSettings:
    """Return what a container is started with; its configuration goes before that of its image."""
    distribution = configuration.distribution
    local = configuration.environment(around)
    return ContainerSettings(
        {**process.SET, **contract.variables(distribution), **local},
        {**contract.extra_files(distribution), **configuration.files(around)},
        limit_mb(distribution),
    )


def limit_mb(distribution: Distribution) -> int:
    return distribution.heap_mb + BESIDE_HEAP_MB


def names(user: int, group: int) -> Mapping[str, str]:
    """Return the files that name a user and its group in a container, by their places."""
    if user == 0:
        return {}
    root = "root:x:0:0:root:/root:/bin/sh\n"
    return {
        "/etc/passwd": f"{root}{_NAME}:x:{user}:{group}::/tmp:/bin/sh\n",
        "/etc/group": f"root:x:0:\n{_NAME}:x:{group}:\n" if group else "root:x:0:\n",
    }
