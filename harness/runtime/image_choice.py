"""Which image a container is made of: the official one, or one of the same contract built here."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact, Distribution
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from harness.core.runtime_names import lock_name
from harness.runtime import docker_daemon, image, image_build
from harness.runtime.docker_daemon import StoredImage
from harness.runtime.image import ImageContract
from harness.runtime.image_build import PREFIX

if TYPE_CHECKING:
    from docker import DockerClient


FRONT: Final = "front"
"""The role of jars that come before an engine's own."""


def _no_image(distribution: Distribution, reference: str, reason: str) -> EnvironmentProblem:
    message = (
        f"{distribution.name}: the image {reference} is not on this machine and cannot be "
        f"pulled ({reason})."
    )
    if distribution.image:
        return EnvironmentProblem(
            f"{message} readers.yaml names just this one; docker pull {reference} tells more"
        )
    if "@" in reference:
        return EnvironmentProblem(
            f"{message} {PINS} asks for just this one; without that, any of its name is taken"
        )
    return EnvironmentProblem(
        f"{message} {PREFIX} names another registry; without any registry build an image of the "
        f"same contract: harness engines build {lock_name(distribution.name)}"
    )


def _other_architecture(reference: str, has: str, needed: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the image {reference} is for {has}, and the Docker daemon's machine is "
        f"{needed}. Remove it (docker rmi {reference}) and pull the right one "
        f"(docker pull --platform linux/{needed}), or build one: harness engines build"
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
    """The image before anything was added: as it was pulled, with the digest by which its registry
    knows it, or as it was built here."""
    added: tuple[str, ...] = ()
    """The jars that were added."""

    @property
    def fidelity(self) -> str:
        """Say what stands behind the answers of its servers."""
        built = image.is_built(self.base)
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

    Raises EnvironmentProblem: no daemon answers; there is no image; the bundle cannot be added.
    """
    with _lock:
        if distribution.name not in _chosen:
            _chosen[distribution.name] = _choose(distribution, cache, progress)
        return _chosen[distribution.name]


def _choose(distribution: Distribution, cache: Cache, progress: Progress) -> ContainerImage:
    """Return the image of a distribution, with its bundle where it has one."""
    contract, name = image.contract(distribution), requested_reference(distribution)
    with closing(docker_daemon.client()) as client, docker_daemon.asked(f"look for {name}"):
        fitting = _fitting(client, _local_or_pulled(client, distribution, name, progress))
    by_folder = _added(distribution, contract)
    if not by_folder:
        return ContainerImage(fitting.reference, fitting.id, contract, _base(fitting, name))
    folders = {
        folder: fetch.files(distribution, jars, cache, progress)
        for folder, jars in by_folder.items()
    }
    made = image_build.with_jars(fitting.reference, fitting.id, folders)
    digest = image_build.build(made, progress)
    names = tuple(jar.file_name for jars in by_folder.values() for jar in jars)
    return ContainerImage(made.reference, digest, contract, _base(fitting, name), names)


def _base(stored: StoredImage, name: str) -> str:
    """Return an image as records say it: by the name that it was looked for, and by digest."""
    if image.is_built(stored.reference) or not stored.pulled:
        return stored.reference
    return f"{name.partition('@')[0]}@{stored.pulled}"


def _fitting(client: DockerClient, stored: StoredImage) -> StoredImage:
    """Return an image if the daemon's machine can run it."""
    machine = docker_daemon.architecture(client)
    if stored.architecture != machine:
        raise _other_architecture(stored.reference, stored.architecture, machine)
    return stored


def _added(distribution: Distribution, contract: ImageContract) -> Mapping[str, list[Artifact]]:
    """Return the jars that no official image has, by the folder that they are copied into."""
    folders: dict[str, list[Artifact]] = {}
    for artifact in distribution.artifacts:
        if artifact.into == FRONT and contract.front:
            folders.setdefault(contract.front, []).append(artifact)
        elif artifact.is_added and contract.home:
            folders.setdefault(f"{contract.home}/{artifact.folder}", []).append(artifact)
    return folders


def _local_or_pulled(
    client: DockerClient, distribution: Distribution, name: str, progress: Progress
) -> StoredImage:
    """Return the image of this name, pulled unless it is there; else what was built here last."""
    reference = docker_daemon.by_digest(name)
    if there := docker_daemon.local(client, reference):
        return there
    progress.note(f"pull {reference}")
    try:
        return docker_daemon.pull(client, reference)
    except EnvironmentProblem as problem:
        built = None if _just_this(name, distribution) else built_here(client, distribution)
        if built is None:
            raise _no_image(distribution, reference, str(problem)) from None
    progress.note(f"{name} cannot be pulled; taken is {built.reference}, which was built here")
    return built


def requested_reference(distribution: Distribution) -> str:
    """Return the name that the image of a distribution is looked for by: the official one.

    It has the digest that people ask for, or else the prefix of a registry of their own.
    """
    official = image.contract(distribution).reference(distribution)
    prefix = "" if distribution.image else os.environ.get(PREFIX, "")
    return pinned(official) or prefix + official


def _just_this(name: str, distribution: Distribution) -> bool:
    return "@" in name or bool(distribution.image)


def available_image(client: DockerClient, distribution: Distribution) -> StoredImage | None:
    """Return the image that a run takes if it can pull none; None: there is none."""
    name = requested_reference(distribution)
    result = docker_daemon.local(client, docker_daemon.by_digest(name))
    return result or (None if _just_this(name, distribution) else built_here(client, distribution))


def built_here(client: DockerClient, distribution: Distribution) -> StoredImage | None:
    """Return the newest image that was built here for a version."""
    name = image.contract(distribution).built
    start = f"{name}:{distribution.version}-"
    result = [
        (entry.attrs["Created"], tag)
        for entry in client.images.list(name)
        for tag in entry.tags
        if tag.startswith(start)
    ]
    return docker_daemon.local(client, max(result)[1]) if result else None


PINS: Final = "HARNESS_IMAGES"
"""The variable with official images by digest, written as `run.json` does: `name:tag@sha256:…`."""
_PIN: Final = re.compile(r"(?P<name>[^@]+)@sha256:[0-9a-f]{64}")


def _bad_pin(given: str) -> UsageProblem:
    return UsageProblem(
        f"{PINS}: {given!r} is no official image by digest; allowed are, separated by "
        "spaces, names as run.json has them: trinodb/trino:476@sha256:… with 64 digits"
    )


def pinned(official: str) -> str:
    """Return what the user wants instead of an official image, registry and digest included.

    Empty where it is any image of this name.

    Raises UsageProblem: the variable is wrong, whichever image it is about.
    """
    text = os.environ.get(PINS, "")
    if not text:
        return ""
    every = {image.official(distributions.load(name)) for name in distributions.names()}
    return parse_pins(text, every - {""}).get(official, "")


def parse_pins(text: str, known: Collection[str]) -> Mapping[str, str]:
    """Return images by digest by the official names that they stand for. Pure.

    Raises UsageProblem: one is written wrongly, or stands for none of `known`.
    """
    pins = dict[str, str]()
    for part in text.split():
        match = _PIN.fullmatch(part)
        fitting = [one for one in known if match and f"/{match['name']}".endswith(f"/{one}")]
        if not fitting:
            raise _bad_pin(part)
        pins[fitting[0]] = part
    return pins
