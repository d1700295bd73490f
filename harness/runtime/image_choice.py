"""Which image a container is made of: the official one, or one of the same contract built here."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact, Distribution
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.runtime_names import lock_name
from harness.runtime import docker_daemon, image
from harness.runtime.docker_daemon import StoredImage
from harness.runtime.image import BUILT, ImageContract

if TYPE_CHECKING:
    from docker import DockerClient

PREFIX: Final = "HARNESS_IMAGE_PREFIX"
"""The variable with what stands before the names of official images: a registry of one's own."""
HIVE_HOME: Final = "/opt/hive"
_DOCKERFILE: Final = "Dockerfile"
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Recipe:
    reference: str
    texts: Mapping[str, str]
    """The Dockerfile, and scripts that it copies, by name."""
    parts: tuple[tuple[str, Path], ...]
    """Files and folders, by their places in the build's context."""
    arguments: Mapping[str, str]


def recipe(distribution: Distribution, installation: Installation, base: str) -> Recipe:
    """Return how an image of the official contract is built from what was fetched, on `base`."""
    contract = image.contract(distribution)
    texts = scripts(contract.built_like or distribution.engine)
    if "schema" in contract.holds:  # the SQL that an image of a metastore makes a database of
        runs = (f"run '{HIVE_HOME}/{sql}';\n" for sql in distribution.texts_if_any("schema_sql"))
        texts["schema.sql"] = "".join(runs)
    arguments = {"BASE": base}
    if contract.home:  # the Dockerfile is of several products
        arguments |= {"HOME": contract.home, "ETC": contract.configuration}
        arguments |= {"DATA": contract.writable[0], "MAIN": distribution.text("main")}
    parts = tuple(_parts(contract, installation))
    # A tree or a JRE in the cache is named by its digest, and so is the folder of each jar.
    content = distributions.digest_of([texts, arguments, [_facts(*part) for part in parts]])
    name = f"{contract.built}:{distribution.version}-{content[:12]}"
    return Recipe(name, texts, parts, arguments)


def with_jars(reference: str, digest: str, folders: Mapping[str, Iterable[Path]]) -> Recipe:
    """Return how an image is built of another one, of a digest, with jars put into folders."""
    parts = tuple(
        (f"added/{at}/{jar.name}", jar) for at, jars in enumerate(folders.values()) for jar in jars
    )
    lines = (f"COPY added/{at} {folder}\n" for at, folder in enumerate(folders))
    texts = {_DOCKERFILE: f"FROM {reference}\n{''.join(lines)}"}
    content = distributions.digest_of([texts, digest, [_facts(*part) for part in parts]])
    name = reference.rpartition("/")[2].partition("@")[0].replace(":", "-")
    return Recipe(f"{BUILT}/{name}:{content[:12]}", texts, parts, {})


def scripts(engine: str) -> dict[str, str]:
    """Return the Dockerfile of an engine and the scripts beside it, by name."""
    folder = resources.files("harness.containers") / engine
    result = (path for path in folder.iterdir() if "." not in path.name or ".sh" in path.name)
    return {file.name: file.read_text(encoding="utf-8") for file in result if file.is_file()}


def _parts(contract: ImageContract, installation: Installation) -> Iterator[tuple[str, Path]]:
    for name in contract.holds:
        if name == "jre":
            yield name, installation.java_home
        elif name == "home" and installation.home is not None:
            yield name, installation.home
        elif name == "pyspark":
            yield from _pyspark(installation.home)
        else:
            yield from ((f"{name}/{jar.name}", jar) for jar in installation.jars(name))


def _facts(name: str, path: Path) -> list[str]:
    return [name, path.name, path.parent.name]


def _pyspark(unpacked: Path | None) -> Iterator[tuple[str, Path]]:
    """Yield PySpark's package as an unpacked Spark has it; of the environment if there is none."""
    if unpacked is not None:
        yield from ((f"pyspark/{name}", unpacked / name) for name in ("bin", "jars", "python"))
        return
    result = find_spec("pyspark")
    home = Path(result.origin).parent if result and result.origin else Path()
    separate = {"bin", "data", "examples", "jars", "licenses", "python", "sbin", "__pycache__"}
    yield from ((f"pyspark/{name}", home / name) for name in ("bin", "jars", "python/lib"))
    local = (path for path in sorted(home.iterdir()) if path.name not in separate)
    yield from ((f"pyspark/python/pyspark/{path.name}", path) for path in local)


def build(made: Recipe, progress: Progress) -> str:
    """Return the digest of an image, built unless it is there."""
    with closing(docker_daemon.client()) as client:
        with docker_daemon.asked(f"look for {made.reference}"):
            there = docker_daemon.local(client, made.reference)
        if there:
            return there.id
        progress.note(f"build {made.reference}")
        return _built(client, made)


def _built(client: DockerClient, made: Recipe) -> str:
    client.api.timeout = 1800
    with tempfile.TemporaryFile() as context:
        _write(context, made)
        context.seek(0)
        try:
            result, _ = client.images.build(
                fileobj=context, custom_context=True, tag=made.reference, rm=True,
                buildargs=dict(made.arguments),
            )  # fmt: skip
        except docker_daemon.failures() as problem:
            log = getattr(problem, "build_log", ())
            lines = [str(entry["stream"]).rstrip() for entry in log if "stream" in entry]
            end = "\n".join([str(problem), *lines[-_SHOWN:]])
            raise EnvironmentProblem(f"cannot build {made.reference}: {end}") from None
    return str(result.id)


def _write(context: IO[bytes], made: Recipe) -> None:
    """Write the build's context; files that are linked to each other stay so."""
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name, text in made.texts.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
        for name, path in made.parts:
            tar.add(path, name, filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return an entry that belongs to root and that everybody reads, as in an official image."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode |= 0o555 if entry.isdir() or entry.mode & 0o100 else 0o444
    return entry


def ensure(distribution: Distribution, cache: Cache, progress: Progress) -> str:
    """Return the name of a distribution's image, built here unless it is there."""
    contract = image.contract(distribution)
    base = _base_id(os.environ.get(PREFIX, "") + contract.base)
    made = recipe(distribution, fetch.ensure(distribution, cache, progress), base)
    build(made, progress)
    return made.reference


def _base_id(reference: str) -> str:
    with closing(docker_daemon.client()) as client, docker_daemon.asked(f"look for {reference}"):
        try:
            there = docker_daemon.local(client, reference)
            return (there or docker_daemon.pull(client, reference)).id
        except EnvironmentProblem as problem:
            release = reference.rpartition(":")[2].partition("-")[0]
            raise EnvironmentProblem(
                f"the image {reference} is not on this machine and cannot be pulled ({problem}). "
                f"{PREFIX} names another registry. On Debian it is made without one:\n"
                f"debootstrap --variant=minbase --include=ca-certificates {release} FOLDER\n"
                f"tar -C FOLDER -c . | docker import - {reference}"
            ) from None


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
    return EnvironmentProblem(
        f"{message} {PREFIX} names another registry; without any registry build an image of the "
        f"same contract: harness engines build {lock_name(distribution.name)}"
    )


@dataclass(frozen=True, slots=True)
class ContainerImage:
    reference: str
    digest: str
    """What tells it from every other one, `sha256:…`."""
    contract: ImageContract
    base: str
    """The image before anything was added: as it was pulled, with the digest by which its registry
    knows it, or as it was built here."""
    added: tuple[str, ...] = ()

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
    return _chosen[name]


def choose(distribution: Distribution, cache: Cache, progress: Progress) -> ContainerImage:
    """Return the image of a distribution, the same one for as long as this process lasts."""
    with _lock:
        if distribution.name not in _chosen:
            _chosen[distribution.name] = _choose(distribution, cache, progress)
        return _chosen[distribution.name]


def _choose(distribution: Distribution, cache: Cache, progress: Progress) -> ContainerImage:
    contract, name = image.contract(distribution), requested_reference(distribution)
    with closing(docker_daemon.client()) as client, docker_daemon.asked(f"look for {name}"):
        stored = _local_or_pulled(client, distribution, name, progress)
        machine = docker_daemon.architecture(client)
    reference, digest, base = stored.reference, stored.id, stored.reference
    if stored.architecture != machine:
        raise EnvironmentProblem(
            f"the image {reference} is for {stored.architecture}, and the Docker daemon's machine "
            f"is {machine}. Remove it (docker rmi {reference}) and pull the right one "
            f"(docker pull --platform linux/{machine}), or build one: harness engines build"
        )
    if stored.pulled and not image.is_built(reference):
        base = f"{name.partition('@')[0]}@{stored.pulled}"
    # No official image has the bundle of a format, nor a connector that is added.
    folders: dict[str, list[Artifact]] = {}
    for artifact in distribution.artifacts:
        if artifact.into == FRONT and contract.front:
            folders.setdefault(contract.front, []).append(artifact)
        elif artifact.is_added and contract.home:
            folders.setdefault(f"{contract.home}/{artifact.folder}", []).append(artifact)
    if folders:
        jars = {at: fetch.files(distribution, of, cache, progress) for at, of in folders.items()}
        made = with_jars(reference, digest, jars)
        reference, digest = made.reference, build(made, progress)
    added = tuple(artifact.file_name for of in folders.values() for artifact in of)
    return ContainerImage(reference, digest, contract, base, added)


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
        built = None if distribution.image else _built_here(client, distribution)
        if built is None:
            raise _no_image(distribution, reference, str(problem)) from None
    progress.note(f"{name} cannot be pulled; taken is {built.reference}, which was built here")
    return built


def requested_reference(distribution: Distribution) -> str:
    """Return the name that an image is looked for by: with a registry's prefix, unless its own."""
    prefix = "" if distribution.image else os.environ.get(PREFIX, "")
    return prefix + image.contract(distribution).reference(distribution)


def available_image(client: DockerClient, distribution: Distribution) -> StoredImage | None:
    """Return the image that a run takes if it can pull none; None: there is none."""
    name = requested_reference(distribution)
    result = docker_daemon.local(client, docker_daemon.by_digest(name))
    return result or (None if distribution.image else _built_here(client, distribution))


def _built_here(client: DockerClient, distribution: Distribution) -> StoredImage | None:
    name = image.contract(distribution).built
    start = f"{name}:{distribution.version}-"
    result = [
        (entry.attrs["Created"], tag)
        for entry in client.images.list(name)
        for tag in entry.tags
        if tag.startswith(start)
    ]
    return docker_daemon.local(client, max(result)[1]) if result else None
