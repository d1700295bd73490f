"""The Docker daemon: whether there is one, and what it says when something fails."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from harness.core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

TIMEOUT_S: Final = 10.0
PULL_S: Final = 1800


def no_docker(reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no Docker daemon answers at {host()} ({reason}). Start one, or name another "
        "by DOCKER_HOST; without containers: --runtime process, and no @container"
    )


@dataclass(frozen=True, slots=True)
class Daemon:
    version: str
    architecture: str
    memory_mb: int


@dataclass(frozen=True, slots=True)
class StoredImage:
    reference: str
    id: str
    """`sha256:…`, of what is in it."""
    pulled: str
    """`sha256:…`, by which the registry knows it; empty where it comes from none."""
    architecture: str
    """`amd64`, as the daemon's own."""


def host() -> str:
    """Return where testcontainers looks for a daemon: by DOCKER_HOST, or Docker's own context."""
    # Imported here: planning, judging and reporting do without.
    from testcontainers.core.docker_client import get_docker_host  # noqa: PLC0415

    return get_docker_host() or "unix:///var/run/docker.sock"


def client() -> DockerClient:
    """Return a client of the daemon; EnvironmentProblem: none answers."""
    from docker.errors import DockerException  # noqa: PLC0415
    from testcontainers.core import docker_client  # noqa: PLC0415

    try:
        scheme, _, path = host().partition("://")
        if scheme == "unix":  # docker's client leaves its own socket open where nobody listens
            with socket.socket(socket.AF_UNIX) as listener:
                listener.settimeout(TIMEOUT_S)
                listener.connect(path)
        result = docker_client.DockerClient(timeout=int(TIMEOUT_S)).client
        result.ping()
    except OSError as problem:
        raise no_docker(problem.strerror or str(problem)) from None
    except DockerException as problem:
        raise no_docker(_last(str(problem))) from None
    return result


def failures() -> tuple[type[Exception], ...]:
    """Return what is raised where the daemon refuses something, or is gone."""
    from docker.errors import DockerException  # noqa: PLC0415

    return DockerException, OSError


@contextmanager
def asked(what: str) -> Iterator[None]:
    """Raise EnvironmentProblem with what was asked, where the daemon refuses it or is gone."""
    try:
        yield
    except failures() as problem:
        text = f"the Docker daemon at {host()} cannot {what}: {_reason(problem)}"
        raise EnvironmentProblem(text) from None


def unless_refused() -> AbstractContextManager[None]:
    """Leave undone what the daemon refuses, or all where it is gone."""
    return suppress(*failures())


@cache
def configure() -> None:
    """Let testcontainers do without its reaper, and reach ports on loopback.

    `container_network` cleans up. On a machine made of a container's image testcontainers takes
    itself to be inside of one.
    """
    from testcontainers.core import config  # noqa: PLC0415

    config.testcontainers_config.ryuk_disabled = True
    config.testcontainers_config.connection_mode_override = config.ConnectionMode.docker_host


def describe() -> Daemon:
    with closing(client()) as result:
        info = result.info()
        return Daemon(info["ServerVersion"], architecture(result), info["MemTotal"] >> 20)


def local(daemon: DockerClient, reference: str) -> StoredImage | None:
    from docker.errors import ImageNotFound  # noqa: PLC0415

    try:
        return _stored(daemon.images.get(reference), reference)
    except ImageNotFound:
        return None


def pull(daemon: DockerClient, reference: str) -> StoredImage:
    """Pull an image; the text of an EnvironmentProblem is the reason alone."""
    daemon.api.timeout = PULL_S
    try:
        return _stored(daemon.images.pull(reference), reference)
    except failures() as problem:
        raise EnvironmentProblem(_reason(problem)) from None


def _stored(image: Image, reference: str) -> StoredImage:
    repository = _repository(reference)
    known = (attr.split("@") for attr in image.attrs["RepoDigests"] or ())
    pulled = next((digest for name, digest in known if name == repository), "")
    return StoredImage(reference, str(image.id), pulled, image.attrs["Architecture"])


def by_digest(name: str) -> str:
    """Return how an image is asked for: by its digest alone where it is named with one.

    >>> by_digest("localhost:5000/trinodb/trino:476@sha256:1"), by_digest("trinodb/trino:476")
    ('localhost:5000/trinodb/trino@sha256:1', 'trinodb/trino:476')
    """
    tagged, at, digest = name.partition("@")
    return f"{_repository(tagged)}@{digest}" if at else name


def _repository(reference: str) -> str:
    folder, slash, last = reference.partition("@")[0].rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"


def architecture(daemon: DockerClient) -> str:
    return str(daemon.version()["Arch"])


def _reason(problem: Exception) -> str:
    return str(getattr(problem, "explanation", "") or problem)


def _last(text: str) -> str:
    """Return the innermost reason of an error of docker's, which quotes each in the next one.

    >>> _last("Error: ('Connection aborted.', ConnectionRefusedError(111, 'Connection refused'))")
    'Connection refused'
    """
    if "timed out" in text:
        return f"no answer within {TIMEOUT_S:.0f} s"
    result = re.findall(r"(?:\[Errno \d+\] |\w+Error\(\d+, ')([^'\")]+)", text)
    return result[-1] if result else text
