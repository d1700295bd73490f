"""Which image a container is made of: the official one, or one of the same contract built here."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.artifacts import fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.runtime_names import lock_name
from harness.runtime import docker_daemon, image, image_build
from harness.runtime.docker_daemon import LocalImage, PullProblem
from harness.runtime.image import BUILT, ImageContract
from harness.runtime.image_build import PREFIX

if TYPE_CHECKING:
    from docker import DockerClient

FRONT: Final = "front"
"""The role of jars that come before an engine's own."""


@dataclass(eq=False)
class NoImageProblem(EnvironmentProblem):
    """An image is not there and cannot be pulled, and none was built."""

    distribution: str
    reference: str
    reason: str

    def __str__(self) -> str:
        name = lock_name(self.distribution)
        return (
            f"{self.distribution}: the image {self.reference} is not on this machine and cannot be "
            f"pulled ({self.reason}). {PREFIX} names another registry; without any registry build "
            f"an image of the same contract: harness engines build {name}"
        )


@dataclass(frozen=True, slots=True)
class ContainerImage:
    """An image that is there."""

    reference: str
    """What a container is made of."""
    digest: str
    """What tells it from every other one, `sha256:…`."""
    contract: ImageContract
    base: str
    """The image as it was pulled, or built here, before anything was added."""
    added: tuple[str, ...] = ()
    """The jars that were added."""

    @property
    def fidelity(self) -> str:
        """Say what stands behind the answers of its servers."""
        built = self.base.startswith(f"{BUILT}/")
        what = f"built here to the contract of {self.contract.image}" if built else "official"
        added = f", {', '.join(self.added)} added" if self.added else ""
        return f"image {self.base} ({what}){added}; {self.digest}"


_chosen: dict[str, ContainerImage] = {}
"""Those of this process: all that it asks of a distribution is answered by one image."""
_lock: Final = threading.Lock()


def chosen(name: str) -> ContainerImage:
    """Return the image of a distribution that was chosen before; KeyError: none was."""
    return _chosen[name]


def choose(distribution: Distribution, cache: Cache, progress: Progress) -> ContainerImage:
    """Return the image of a distribution, the same one for as long as this process lasts.

    Raises:
        NoDockerProblem: no daemon answers.
        NoImageProblem: there is no image.
        BuildProblem: the bundle cannot be added.

    """
    with _lock:
        if distribution.name not in _chosen:
            _chosen[distribution.name] = _choose(distribution, cache, progress)
        return _chosen[distribution.name]


def _choose(distribution: Distribution, cache: Cache, progress: Progress) -> ContainerImage:
    """Return the image of a distribution, with its bundle where it has one.

    The official image if it is there or can be pulled; else the one that was built here last.
    """
    contract, official = image.contract(distribution), official_image(distribution)
    with closing(docker_daemon.client()) as client:
        there = docker_daemon.local(client, official)
        found = (official, there) if there else _pulled(client, distribution, official, progress)
    jars = _front(distribution, cache, progress) if contract.front else ()
    if not jars:
        return ContainerImage(*found, contract, found[0])
    made = image_build.with_front(*found, contract, jars)
    names = tuple(each.name for each in jars)
    return ContainerImage(
        made.reference, image_build.build(made, progress), contract, found[0], names
    )


def _front(distribution: Distribution, cache: Cache, progress: Progress) -> Sequence[Path]:
    own = tuple(each for each in distribution.artifacts if each.into == FRONT)
    if not own:
        return ()
    alone = replace(distribution, artifacts=own, patches=())
    return fetch.ensure(alone, cache, progress).jars(FRONT)


def _pulled(
    client: DockerClient, distribution: Distribution, reference: str, progress: Progress
) -> tuple[str, str]:
    progress.note(f"pull {reference}")
    try:
        return reference, docker_daemon.pull(client, reference)
    except PullProblem as problem:
        built = built_here(client, distribution)
        if built is None:
            raise NoImageProblem(distribution.name, reference, problem.reason) from None
    progress.note(f"{reference} cannot be pulled; taken is {built[0]}, which was built here")
    return built


def official_image(distribution: Distribution) -> str:
    """Return the name of the official image, with the prefix of people's own registry."""
    return os.environ.get(PREFIX, "") + image.contract(distribution).reference(distribution)


def there(client: DockerClient, distribution: Distribution) -> LocalImage | None:
    """Return the image that a run would take of those on the daemon's machine; nothing is pulled.

    None: there is none, neither the official one nor one that was built here.
    """
    official = docker_daemon.facts(client, official_image(distribution))
    built = None if official else built_here(client, distribution)
    return docker_daemon.facts(client, built[0]) if built else official


def built_here(client: DockerClient, distribution: Distribution) -> tuple[str, str] | None:
    """Return name and digest of the newest image that was built here for a version."""
    name = image.contract(distribution).image.rpartition("/")[2]
    start = f"{BUILT}/{name}:{distribution.version}-"
    found = [
        (each.attrs["Created"], tag, str(each.id))
        for each in client.images.list(f"{BUILT}/{name}")
        for tag in each.tags
        if tag.startswith(start)
    ]
    return max(found)[1:] if found else None
