"""Make everything a distribution needs be there, verified."""

from __future__ import annotations

import glob
import os
import shutil
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.artifacts import distributions, python_index, repository
from harness.artifacts.cache import Cache, file_sha256
from harness.artifacts.distribution import ARCHIVE, Artifact, ClassPatch, Distribution
from harness.artifacts.java_classes import login_module, replace_code, replace_constants, written
from harness.artifacts.unpack import unpack_tar
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress, megabytes
from harness.core.texts import first_of

UNIX_LOGIN: Final = "com.sun.security.auth.module.UnixLoginModule"
"""By it Hadoop asks the operating system who it is (`UserGroupInformation`)."""
PATCHES = "patches"


def _fill(distribution: Distribution, cache: Cache, work: Path) -> None:
    for artifact in distribution.artifacts:
        if artifact.into == ARCHIVE:
            unpack_tar(cache.artifact(artifact), work, artifact.members)
    _put_jars(distribution, cache, work)
    for patch in distribution.patches:
        _patch(distribution, cache, patch, work / PATCHES)
    if main := distribution.main_class:
        inside = f"{main.name.replace('.', '/')}.class"
        _write_jar(work / "lib" / f"{main.name}.jar", inside, written(main))
    for folder in distribution.without_login:
        inside = f"{UNIX_LOGIN.replace('.', '/')}.class"
        _write_jar(work / folder / f"{UNIX_LOGIN}.jar", inside, login_module(UNIX_LOGIN))
    for folder, offered in distribution.services.items():
        for interface, implementation in offered.items():
            inside = f"META-INF/services/{interface}"
            _write_jar(work / folder / f"{interface}.jar", inside, implementation.encode())


def _put_jars(distribution: Distribution, cache: Cache, work: Path) -> None:
    jars = [a for a in distribution.artifacts if a.in_tree and a.into != ARCHIVE]
    for jar in jars:
        # Another version takes its place; Trino's archives have the group in names as well.
        name = glob.escape(jar.coordinates.artifact)
        for pattern in (f"{name}-[0-9]*.jar", f"*_{name}-[0-9]*.jar"):
            for older in (work / jar.folder).glob(pattern):
                older.unlink()
    for jar in jars:
        (work / jar.folder).mkdir(parents=True, exist_ok=True)
        there, target = cache.artifact(jar), work / jar.folder / jar.file_name
        try:
            os.link(there, target)
        except OSError:  # a file system without hard links
            shutil.copyfile(there, target)


def _write_jar(jar: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(jar, "x") as made:
        made.writestr(zipfile.ZipInfo(name), content)


def _patch(distribution: Distribution, cache: Cache, patch: ClassPatch, folder: Path) -> None:
    jars = [a for a in distribution.artifacts if a.file_name == patch.jar]
    inside = patch.class_.replace(".", "/") + ".class"
    try:
        with zipfile.ZipFile(cache.artifact(jars[0])) as jar:
            patched = replace_constants(jar.read(inside), dict(patch.replace))
        if patch.code:
            patched = replace_code(patched, patch.code)
    except (IndexError, KeyError, ValueError, zipfile.BadZipFile) as error:
        where = f"{distribution.name}: cannot patch {patch.class_} of {patch.jar}"
        raise EnvironmentProblem(f"{where}: {error}") from error
    target = folder / inside
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(patched)


if TYPE_CHECKING:
    from harness.artifacts.download import OpenRepository

_NAMED = 8


@dataclass(frozen=True, slots=True)
class Installation:
    """A distribution that is there; of a program of Python `home` has the packages."""

    distribution: Distribution
    java: Path | None
    home: Path | None
    files: tuple[tuple[str, Path], ...]
    archives: Path | None = None
    """Where archives of classes are kept; None: nowhere."""

    @property
    def java_home(self) -> Path:
        """What JAVA_HOME must name. LookupError: it is a program of Python."""
        if self.java is None:
            raise LookupError(f"{self.distribution.name} has no Java")
        return self.java.parent.parent

    @property
    def patches(self) -> Path | None:
        """The folder of patched classes, which goes first on a class path; None without any."""
        return self.home / PATCHES if self.home and self.distribution.patches else None

    def jars(self, role: str) -> tuple[Path, ...]:
        return tuple(path for result, path in self.files if result == role)


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is not in the cache yet. `size` is the download in bytes."""

    name: str
    size: int


def ensure(distribution: Distribution, cache: Cache, progress: Progress) -> Installation:
    """Fetch, check and unpack what is not there yet, also while other processes do the same."""
    program = python_index.program_home(distribution)
    check_online(missing(distribution, cache), cache)
    jre = python_index.java_home(distribution.jre) if distribution.jre else None
    java = jre.ensure(cache, progress) / "bin" / "java" if jre else None
    home = program.ensure(cache, progress) if program else _home(distribution, cache, progress)
    cached = [artifact for artifact in distribution.artifacts if not artifact.in_tree]
    _ensure_artifacts(distribution, cached, cache, progress)
    files = tuple((artifact.into, cache.artifact(artifact)) for artifact in cached)
    return Installation(distribution, java, home, files, cache.archives())


def files(
    distribution: Distribution, artifacts: Sequence[Artifact], cache: Cache, progress: Progress
) -> tuple[Path, ...]:
    """Return where some artifacts of a distribution are, fetched; raises as `ensure` does."""
    _ensure_artifacts(distribution, artifacts, cache, progress)
    return tuple(cache.artifact(artifact) for artifact in artifacts)


def missing(distribution: Distribution, cache: Cache) -> tuple[Missing, ...]:
    """Return what `ensure` would download, as far as sizes tell; nothing is fetched or hashed."""
    lacking = missing_artifacts(distribution, cache)
    result = [
        Missing(artifact.file_name, artifact.size)
        for artifact in lacking
        if not cache.seems_whole(artifact)
    ]
    if not distribution.wheels or python_index.fits(distribution):
        for home in python_index.homes(distribution):
            result += [Missing(file.name, file.size) for file in home.missing(cache)]
    return tuple(result)


def missing_artifacts(distribution: Distribution, cache: Cache) -> tuple[Artifact, ...]:
    key = distributions.tree_digest(distribution)
    unpacked = key is not None and cache.tree(key).is_dir()
    needed = (
        artifact for artifact in distribution.artifacts if not (artifact.in_tree and unpacked)
    )
    return tuple(artifact for artifact in _once(needed) if not cache.holds(artifact))


def check_online(lacking: Sequence[Missing], cache: Cache) -> None:
    """Raise EnvironmentProblem where something is missing and the cache is offline."""
    if not (lacking and cache.offline):
        return
    total = megabytes(sum(entry.size for entry in lacking))
    names = first_of((entry.name for entry in lacking), _NAMED)
    raise EnvironmentProblem(
        f"offline, and not in {cache.root}: {names} ({total}). Run harness fetch where there is a "
        "network, and bring its cache here (docs/ci.md)"
    )


def verify(distribution: Distribution, cache: Cache) -> tuple[Path, ...]:
    """Hash again every file that is kept; return those that changed, which are removed."""
    changed = []
    for artifact in distribution.artifacts:
        path = cache.artifact(artifact)
        if path.is_file() and file_sha256(path) != artifact.sha256:
            cache.remove(artifact)
            changed.append(path)
    return tuple(changed)


def _home(distribution: Distribution, cache: Cache, progress: Progress) -> Path | None:
    """Return the server tree, made unless it is there; its archives are removed then."""
    key = distributions.tree_digest(distribution)
    if key is None:
        return None
    home = cache.tree(key)

    def make(work: Path) -> Path:
        patched = {patch.jar for patch in distribution.patches}
        needed = [a for a in distribution.artifacts if a.in_tree or a.file_name in patched]
        _ensure_artifacts(distribution, needed, cache, progress)
        progress.note(f"unpack {distribution.name} → {home}")
        (work / "tree").mkdir()
        _fill(distribution, cache, work / "tree")
        for artifact in needed:
            if artifact.into == ARCHIVE:
                cache.remove(artifact)
        return work / "tree"

    return cache.make_once(home, make)


def _ensure_artifacts(
    distribution: Distribution, needed: Sequence[Artifact], cache: Cache, progress: Progress
) -> None:
    lacking = [artifact for artifact in _once(needed) if not cache.holds(artifact)]
    if not lacking:
        return
    total = sum(artifact.size for artifact in lacking)
    cache.root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache.root).free
    if free < total:
        raise EnvironmentProblem(
            f"the disk of {cache.root} is too full: {megabytes(total)} are needed, "
            f"{megabytes(free)} are free; HARNESS_CACHE may name another folder"
        )
    files = f"{distribution.name}, {len(lacking)} files,"
    what = lacking[0].file_name if len(lacking) == 1 else files
    progress.start(f"fetch {what} → {cache.root}", total)
    from harness.artifacts import download  # noqa: PLC0415 - few runs need what it imports

    with download.connected(repository.configured()) as source:
        for artifact in lacking:
            _ensure_artifact(artifact, cache, source, progress)
    progress.done()


def _once(artifacts: Iterable[Artifact]) -> Iterable[Artifact]:
    """Return each file once, though it may have several roles; two of one content are two."""
    return {(artifact.sha256, artifact.file_name): artifact for artifact in artifacts}.values()


def _ensure_artifact(
    artifact: Artifact, cache: Cache, source: OpenRepository, progress: Progress
) -> None:
    from harness.artifacts import download  # noqa: PLC0415 - as above

    path = cache.artifact(artifact)
    with cache.lock(path):
        if cache.holds(artifact):  # somebody else was faster
            progress.advance(artifact.size)
            return
        if not (path.is_file() and file_sha256(path) == artifact.sha256):
            check_online([Missing(artifact.file_name, artifact.size)], cache)
            try:
                download.download(
                    download.ExpectedFile(
                        artifact.coordinates.repository_path, artifact.size, artifact.sha256
                    ),
                    path, source, progress,
                )  # fmt: skip
            except EnvironmentProblem as problem:
                raise EnvironmentProblem(f"{artifact.coordinates}: {problem}") from problem
        cache.stamp(artifact)
