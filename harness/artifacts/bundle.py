"""Carry what distributions need into a closed network: one tar file, checked against the locks.

A file enters a cache only when the lock data of *this* installation names it, and its SHA-256. A
last, empty member says that none is cut off.
"""

import shutil
import tarfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import distributions, fetch, python_index, repository
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache, file_sha256
from harness.artifacts.distribution import Artifact, Distribution
from harness.artifacts.download import ExpectedFile, connected, download
from harness.artifacts.python_index import IndexFile
from harness.core.atomic_write import atomic_write
from harness.core.errors import EnvironmentProblem, UsageProblem, describe
from harness.core.progress import Progress

END: Final = "end"
"""The name of the last member."""


Source = Artifact | IndexFile
Sources = Mapping[str, Source]
"""What is carried, by its name in the tar."""


def key(needed: Iterable[Distribution]) -> str:
    """Return a key for caches of CI: another one when other files must be downloaded."""
    return distributions.digest_of(sorted(part.sha256 for part in sources(needed).values()))


@contextmanager
def workspace(cache: Cache) -> Iterator[Path]:
    """Yield a folder for files on their way, to one harness at a time."""
    cache.claim()
    path = cache.root / "parcel"
    with cache.lock(path), cache.workspace(path) as folder:
        yield folder


def sources(needed: Iterable[Distribution]) -> Sources:
    """Everything to carry, each file once, in a fixed order."""
    result: dict[str, Source] = {}
    for distribution in needed:
        for wheel in (w for home in python_index.homes(distribution) for w in home.files):
            if not wheel.source:
                result[f"python/{wheel.project}-{wheel.sha256[:16]}.whl"] = wheel
        for artifact in distribution.artifacts:
            result[f"artifacts/{artifact.sha256[:16]}/{artifact.file_name}"] = artifact
    return dict(sorted(result.items()))


def export(needed: Sequence[Distribution], file: Path, cache: Cache, progress: Progress) -> int:
    """Write the tar of what distributions need, complete or not at all; return its bytes."""
    if file.is_dir():
        raise UsageProblem(f"{file} is a folder; name the file to write, as engines.tar")
    if not file.parent.is_dir():
        raise UsageProblem(
            f"{file} cannot be written: there is no folder {file.parent} for {file.name}; make it "
            "first"
        )
    requested = sources(needed)
    with workspace(cache) as folder:
        paths = _collected(requested, cache, folder, progress)
        progress.start(f"export {file}", sum(part.size for part in requested.values()))
        with atomic_write(file) as unfinished:
            if changed := _write(unfinished, requested, paths, progress):
                raise EnvironmentProblem(
                    f"cannot write {file}: {changed} is not what the lock says; remove it, and "
                    "fetch it again"
                )
        progress.done()
    return file.stat().st_size


def _collected(files: Sources, cache: Cache, folder: Path, progress: Progress) -> dict[str, Path]:
    """Return where each file is, once those that are not in the cache are downloaded."""
    present = {
        name: cache.artifact(part)
        for name, part in files.items()
        if isinstance(part, Artifact) and cache.seems_whole(part)
    }
    lacking = {name: part for name, part in files.items() if name not in present}
    missing = [fetch.Missing(n.rpartition("/")[2], part.size) for n, part in lacking.items()]
    fetch.check_online(missing, cache)
    if not lacking:
        return present
    size = sum(part.size for part in lacking.values())
    progress.start("fetch what is not kept as it was downloaded", size)
    with connected(repository.configured()) as source:
        for number, (name, part) in enumerate(lacking.items()):
            present[name] = path = folder / str(number)
            if isinstance(part, Artifact):
                needed = ExpectedFile(part.coordinates.repository_path, part.size, part.sha256)
                download(needed, path, source, progress)
            else:
                path.mkdir()
                (present[name],) = python_index.download([part], path)
                progress.advance(part.size)
    progress.done()
    return present


def _write(
    file: Path, files: Sources, paths: Mapping[str, Path], progress: Progress
) -> Path | None:
    """Write the tar; return the first file that is not what the lock says, and stop there."""
    with tarfile.open(file, "w") as tar:
        for name, part in files.items():
            if file_sha256(paths[name]) != part.sha256:
                return paths[name]
            with paths[name].open("rb") as content:
                tar.addfile(_member(name, part.size), content)
            progress.advance(part.size)
        tar.addfile(_member(END, 0))
    return None


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member


CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: how many files, and how many of them were not there yet."""

    files: int
    new: int
    size: int


class _RefusedError(Exception):
    """The tar is not what it has to be: nothing of it is imported."""


def load(file: Path, cache: Cache, progress: Progress) -> Imported:
    """Bring the files of a tar into the cache: all are verified before the first one enters."""
    if not file.is_file():
        raise UsageProblem(
            f"{file} is not a file; give the tar that harness cache export has written"
        )
    every = map(distributions.load, distributions.names())
    known = sources(distribution for distribution in every if python_index.fits(distribution))
    try:
        with tarfile.open(file, "r:") as tar, workspace(cache) as folder:
            progress.start(f"import {file} → {cache.root}", file.stat().st_size)
            paths = _taken(tar, known, folder, progress)
            lacking = _lacking(cache)
            new = [known[n] for n, path in paths.items() if _enter(known[n], path, cache, lacking)]
    except (_RefusedError, tarfile.TarError) as error:
        cut_off = isinstance(error, tarfile.TarError)
        why = f"it is no such file, or cut off: {error}" if cut_off else error
        raise EnvironmentProblem(f"{file}: nothing of it was imported: {why}") from error
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot import {file}: {describe(error)}; give a tar that can be read, and a cache "
            f"({ENVIRONMENT_VARIABLE}: {cache.root}) that can be written"
        ) from error
    progress.done()
    return Imported(len(paths), len(new), sum(part.size for part in new))


def _taken(
    tar: tarfile.TarFile, known: Sources, folder: Path, progress: Progress
) -> dict[str, Path]:
    """Write each file to the side; its name in the tar is compared and never used as a path."""
    paths: dict[str, Path] = {}
    last = ""
    for member in tar:
        last = member.name
        if last == END:
            continue
        part, content = known.get(last), tar.extractfile(member) if member.isreg() else None
        if part is None or content is None:
            raise _RefusedError(
                f"this version does not know {last!r}; another version of the harness exported it, "
                "or one on another platform"
            )
        path = paths[last] = folder / str(len(paths))
        with path.open("wb") as out:
            shutil.copyfileobj(content, out, CHUNK)
        if (seen := file_sha256(path)) != part.sha256:
            raise _RefusedError(f"{last!r} has another SHA-256 than the lock says: {seen}")
        progress.advance(member.size)
    if last != END:
        raise _RefusedError("it is cut off, or was not written by harness cache export")
    return paths


def _lacking(cache: Cache) -> set[str]:
    """The SHA-256 of each artifact and wheel that is missing; of none that is unpacked already."""
    lacking = set[str]()
    for distribution in map(distributions.load, distributions.names()):
        lacking |= {a.sha256 for a in fetch.missing_artifacts(distribution, cache)}
        if python_index.fits(distribution):
            homes = python_index.homes(distribution)
            lacking |= {file.sha256 for home in homes for file in home.missing(cache)}
    return lacking


def _enter(what: Source, file: Path, cache: Cache, lacking: Collection[str]) -> bool:
    """Move a verified file to where it belongs; False when nothing needs it there."""
    if what.sha256 not in lacking:
        return False
    path = cache.artifact(what) if isinstance(what, Artifact) else what.brought(cache)
    with cache.lock(path):
        file.replace(path)
        if isinstance(what, Artifact):
            cache.stamp(what)
        return True
