"""The Docker daemon: whether there is one, and what it says when something fails."""

from __future__ import annotations

import os
import re
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from harness.core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

TIMEOUT_S: Final = 10.0
"""How long the daemon may take to answer at all."""
PULL_S: Final = 1800
"""How long the pull of an image may take."""


@dataclass(eq=False)
class NoDockerProblem(EnvironmentProblem):
    """No Docker daemon answers."""

    host: str
    """Where one was looked for."""
    reason: str

    def __str__(self) -> str:
        return (
            f"no Docker daemon answers at {self.host} ({self.reason}). Start one, or name another "
            "by DOCKER_HOST; without containers: --runtime process"
        )


@dataclass(eq=False)
class PullProblem(EnvironmentProblem):
    """An image cannot be pulled."""

    reference: str
    reason: str

    def __str__(self) -> str:
        return f"cannot pull {self.reference}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Daemon:
    """What a daemon says of itself."""

    version: str
    architecture: str
    """Of its machine, in the words of images: `amd64`."""
    memory_mb: int


@dataclass(frozen=True, slots=True)
class LocalImage:
    """An image that is on the daemon's machine."""

    reference: str
    architecture: str
    size: int
    """In bytes, with the layers that it shares with others."""


def host() -> str:
    """Return where the daemon is looked for."""
    return os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")


def client() -> DockerClient:
    """Return a client of the daemon.

    Raises:
        NoDockerProblem: none answers.

    """
    # Imported here: planning, judging and reporting do without.
    import docker  # noqa: PLC0415
    from docker.errors import DockerException  # noqa: PLC0415

    try:
        found = docker.from_env(timeout=int(TIMEOUT_S))
        found.ping()
    except DockerException as problem:
        raise NoDockerProblem(host(), _last(str(problem))) from None
    return found


@cache
def configure() -> None:
    """Let testcontainers do without its reaper, and reach ports on loopback.

    The reaper's image would have to be pulled, and it loses its connection where the daemon is slow
    (testcontainers-python issue 1114); `container_network` cleans up instead. On a machine that was
    made of a container's image testcontainers takes itself to be inside of one.
    """
    from testcontainers.core.config import (  # noqa: PLC0415
        ConnectionMode,
        testcontainers_config,
    )

    testcontainers_config.ryuk_disabled = True
    testcontainers_config.connection_mode_override = ConnectionMode.docker_host


def about() -> Daemon:
    """Return what the daemon says of itself.

    Raises:
        NoDockerProblem: none answers.

    """
    with closing(client()) as found:
        told = found.version()
        return Daemon(told["Version"], told["Arch"], found.info()["MemTotal"] >> 20)


def local(found: DockerClient, reference: str) -> str | None:
    """Return the digest of an image that is on the daemon's machine; None where it is not."""
    image = _local(found, reference)
    return None if image is None else str(image.id)


def facts(found: DockerClient, reference: str) -> LocalImage | None:
    """Return what is known of an image that is on the daemon's machine; None where it is not."""
    image = _local(found, reference)
    if image is None:
        return None
    return LocalImage(reference, image.attrs["Architecture"], image.attrs["Size"])


def _local(found: DockerClient, reference: str) -> Image | None:
    from docker.errors import ImageNotFound  # noqa: PLC0415

    try:
        return found.images.get(reference)
    except ImageNotFound:
        return None


def pull(found: DockerClient, reference: str) -> str:
    """Pull an image and return its digest.

    Raises:
        PullProblem: it cannot be had.

    """
    from docker.errors import DockerException  # noqa: PLC0415

    found.api.timeout = PULL_S
    try:
        return str(found.images.pull(reference).id)
    except DockerException as problem:
        reason = str(getattr(problem, "explanation", "") or problem)
        raise PullProblem(reference, reason) from None


def _last(text: str) -> str:
    """Return the innermost reason of an error of docker's, which quotes each in the next one.

    >>> _last("Error: ('Connection aborted.', FileNotFoundError(2, 'No such file or directory'))")
    'No such file or directory'
    """
    found = re.findall(r"(?:\[Errno \d+\] |\w+Error\(\d+, ')([^'\")]+)", text)
    return found[-1] if found else text
