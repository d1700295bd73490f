"""What Docker is there, and which images; nothing is pulled, built or started.

Containers are optional: what is lacking here is told, and is no failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem
from harness.core.grouping import grouped
from harness.core.progress import megabytes
from harness.runtime import docker_daemon, image, image_choice
from harness.runtime.docker_daemon import Daemon, StoredImage
from harness.runtime.image import limit_mb


@dataclass(frozen=True, slots=True)
class EngineImage:
    """An official image, and what a run would take for it without pulling."""

    official: str
    names: tuple[str, ...]
    """The distributions that are run in it."""
    there: StoredImage | None


@dataclass(frozen=True, slots=True)
class Docker:
    """A daemon that was looked for."""

    host: str
    daemon: Daemon | None = None
    why: str = ""
    """Why none answers."""
    images: tuple[EngineImage, ...] = ()


def look(names: Iterable[str]) -> Docker:
    """Look for a daemon, and there for the image of each distribution."""
    from docker.errors import DockerException  # noqa: PLC0415

    host = docker_daemon.host()
    try:
        return Docker(host, docker_daemon.describe(), images=tuple(_images(_by_image(names))))
    except EnvironmentProblem as problem:
        return Docker(host, why=str(problem))
    except (DockerException, OSError) as problem:  # it went away while it was asked
        return Docker(host, why=str(docker_daemon.no_docker(str(problem))))


def _by_image(names: Iterable[str]) -> dict[str, list[Distribution]]:
    every = map(distributions.load, names)
    # Of somebody's own engine, which runs as a process, no image is known.
    return grouped(
        (image_choice.requested_reference(entry), entry) for entry in every if image.official(entry)
    )


def _images(by_image: dict[str, list[Distribution]]) -> Iterator[EngineImage]:
    with closing(docker_daemon.client()) as client:
        for official, every in sorted(by_image.items()):
            names = tuple(entry.name for entry in every)
            yield EngineImage(official, names, image_choice.available_image(client, every[0]))


def warnings(docker: Docker, profile: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return what may go wrong in containers, each with what to do.

    `names`: the distributions that a profile needs.
    """
    if docker.daemon is None:
        return ()
    message = list(_of_other_machines(docker, docker.daemon.architecture))
    need = sum(limit_mb(distributions.load(name)) for name in names)
    if docker.daemon.memory_mb < need:
        message.append(
            f"the containers of {profile} may take {need} MB together, each its heap and 1 GiB, "
            f"and the daemon has {docker.daemon.memory_mb} MB; give it more, or run fewer engines"
        )
    return tuple(message)


def _of_other_machines(result: Docker, local: str) -> Iterator[str]:
    for entry in result.images:
        image = entry.there
        if image and image.architecture != local:
            yield (
                f"the image {image.reference} is for {image.architecture} and the daemon "
                f"runs on {local}: a run refuses it; remove it and pull the one for {local}"
            )


def show(docker: Docker, warnings: Iterable[str], console: Console) -> None:
    """Print what the daemon is, its images, and the warnings."""
    if docker.daemon is None:
        _say(console, f"Docker: {docker.why}")
        return
    daemon = docker.daemon
    about = f"version {daemon.version}, {daemon.architecture}, {daemon.memory_mb} MB of memory"
    _say(console, f"Docker: {about}, at {docker.host}")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("official image", "what is there", "size", "for"):
        table.add_column(head, overflow="fold")
    for entry in docker.images:
        table.add_row(*_line(entry))
    console.print(table)
    for text in warnings:
        _say(console, f"warning: {text}", "yellow")


def _line(engine_image: EngineImage) -> tuple[str, ...]:
    names = ", ".join(engine_image.names)
    if engine_image.there is None:
        return engine_image.official, "none; a run tries to pull it", "", names
    built = image.is_built(engine_image.there.reference)
    what = f"built here: {engine_image.there.reference}" if built else "the official one"
    return engine_image.official, what, megabytes(engine_image.there.size), names


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
