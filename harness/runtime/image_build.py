"""Build images: of an official image's contract, and of any with a bundle added.

What is in an image is its name: its tag ends in a digest of the Dockerfile, of the base and of
every artifact, so that none is built twice and none is taken for another one.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.runtime import docker_daemon, image
from harness.runtime.image import BUILT, ImageContract

if TYPE_CHECKING:
    from docker import DockerClient

CONTENT: Final = "lake-table-harness.content"
"""The label with the digest of what is in an image."""
PREFIX: Final = "HARNESS_IMAGE_PREFIX"
"""The variable with what stands before the names of official images: a registry of one's own."""
HIVE_HOME: Final = "/opt/hive"
"""Where an image of Hive has its program."""
_DOCKERFILE: Final = "Dockerfile"
_SHOWN: Final = 20


def _cannot_build(reference: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"cannot build {reference}: {reason}")


def _no_base(reference: str, reason: str) -> EnvironmentProblem:
    release = reference.rpartition(":")[2].partition("-")[0]
    return EnvironmentProblem(
        f"the image {reference} is not on this machine and cannot be pulled "
        f"({reason}). {PREFIX} names another registry. On Debian it is made without one:\n"
        f"debootstrap --variant=minbase --include=ca-certificates {release} FOLDER\n"
        f"tar -C FOLDER -c . | docker import - {reference}"
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an image is built of."""

    reference: str
    """Its name, with a digest of all the rest."""
    texts: Mapping[str, str]
    """The Dockerfile, and scripts that it copies, by name."""
    parts: tuple[tuple[str, Path], ...]
    """Files and folders, by their places in the build's context."""
    arguments: Mapping[str, str]


def recipe(distribution: Distribution, installation: Installation, base: str) -> Recipe:
    """Return how an image of the official contract is built from what was fetched.

    Args:
        distribution: which engine, in which version.
        installation: what was fetched of it.
        base: the id of the image that it is built on.

    """
    contract = image.contract(distribution)
    local = scripts(contract.built_like or distribution.engine)
    texts = {**local, **_schema(contract, distribution)}
    arguments = {"BASE": base, **_arguments(contract, distribution)}
    parts = tuple(_parts(contract, installation))
    # A tree or a JRE in the cache is named by its digest, and so is the folder of each jar.
    content = distributions.digest_of([texts, arguments, [_facts(*part) for part in parts]])
    name = f"{contract.built}:{distribution.version}-{content[:12]}"
    return Recipe(name, texts, parts, arguments)


def _schema(contract: ImageContract, distribution: Distribution) -> Mapping[str, str]:
    """Return what makes a database of the SQL that an image of a metastore holds."""
    if "schema" not in contract.holds:
        return {}
    runs = (f"run '{HIVE_HOME}/{text}';\n" for text in distribution.texts_if_any("schema_sql"))
    return {"schema.sql": "".join(runs)}


def _arguments(contract: ImageContract, distribution: Distribution) -> Mapping[str, str]:
    """Return what a Dockerfile of several products is told of one."""
    if not contract.home:
        return {}
    data, main = contract.writable[0], distribution.text("main")
    return {"HOME": contract.home, "ETC": contract.configuration, "DATA": data, "MAIN": main}


def with_jars(reference: str, digest: str, folders: Mapping[str, Iterable[Path]]) -> Recipe:
    """Return how an image is built of another one with jars added.

    Args:
        reference: the other image.
        digest: the other image's.
        folders: the jars, by the folder of the image that they are copied into.

    """
    parts = tuple(
        (f"added/{at}/{jar.name}", jar) for at, jars in enumerate(folders.values()) for jar in jars
    )
    lines = (f"COPY added/{at} {folder}\n" for at, folder in enumerate(folders))
    texts = {_DOCKERFILE: f"FROM {reference}\n{''.join(lines)}"}
    content = distributions.digest_of([texts, digest, [_facts(*part) for part in parts]])
    name = reference.rpartition("/")[2].partition("@")[0].replace(":", "-")
    return Recipe(f"{BUILT}/{name}:{content[:12]}", texts, parts, {})


def scripts(engine: str) -> Mapping[str, str]:
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
    """Return the digest of an image, built unless it is there.

    Raises EnvironmentProblem: no daemon answers; it cannot be built; with the end of what the
    daemon said.
    """
    with closing(docker_daemon.client()) as client:
        with docker_daemon.asked(f"look for {made.reference}"):
            there = docker_daemon.local(client, made.reference)
        if there:
            return there.id
        progress.note(f"build {made.reference}")
        return _built(client, made)


def _built(client: DockerClient, made: Recipe) -> str:
    from docker.errors import BuildError, DockerException  # noqa: PLC0415

    client.api.timeout = 1800
    with tempfile.TemporaryFile() as context:
        _write(context, made)
        context.seek(0)
        try:
            result, _ = client.images.build(
                fileobj=context, custom_context=True, tag=made.reference, rm=True,
                buildargs=dict(made.arguments), labels={CONTENT: made.reference},
            )  # fmt: skip
        except BuildError as problem:
            message = [
                str(entry["stream"]).rstrip() for entry in problem.build_log if "stream" in entry
            ]
            end = "\n".join([str(problem), *message[-_SHOWN:]])
            raise _cannot_build(made.reference, end) from None
        except (DockerException, OSError) as problem:
            raise _cannot_build(made.reference, str(problem)) from None
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
    """Return the name of a distribution's image, built here unless it is there.

    Raises EnvironmentProblem: no daemon answers; there is no image to build it on; it cannot be
    built.
    """
    contract = image.contract(distribution)
    base = _base(os.environ.get(PREFIX, "") + contract.base)
    made = recipe(distribution, fetch.ensure(distribution, cache, progress), base)
    build(made, progress)
    return made.reference


def _base(reference: str) -> str:
    with closing(docker_daemon.client()) as client, docker_daemon.asked(f"look for {reference}"):
        try:
            there = docker_daemon.local(client, reference)
            return (there or docker_daemon.pull(client, reference)).id
        except EnvironmentProblem as problem:
            raise _no_base(reference, str(problem)) from None
