"""Bring a bundle into a cache: every file of it is verified before the first one enters."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from harness.artifacts import distributions, fetch, jre, python_home
from harness.artifacts.bundle import (
    INDEX,
    ArtifactOrJre,
    BundleFile,
    Hashed,
    cannot_bundle,
    sources,
    workspace,
)
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.python_index import IndexFile
from harness.core.errors import EnvironmentProblem, UsageProblem, told
from harness.core.progress import Progress

INDEX_BYTES: Final = 1 << 20
"""An index is shorter than this: one of every distribution has some 100 kB."""
CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: how many files, and how many of them were not there yet."""

    files: int
    new: int
    size: int


def _not_imported(file: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"{file}: nothing of it was imported: {reason}")


def load(file: Path, cache: Cache, progress: Progress) -> Imported:
    """Bring the files of a tar into the cache: all are verified before the first one enters.

    Raises EnvironmentProblem: it is cut off, not of this version's locks, or hostile, or cannot be
    read or written; UsageProblem: there is no such file.
    """
    if not file.is_file():
        raise UsageProblem(
            f"{file} is not a file; give the tar that harness cache export has written"
        )
    every = map(distributions.load, distributions.names())
    known = sources(each for each in every if python_home.fits(each))
    try:
        with tarfile.open(file, "r:") as tar, workspace(cache) as folder:
            parts = _index(tar, file)
            _check_known(parts, known, file)
            progress.start(f"import {file} → {cache.root}", sum(each.size for each in parts))
            places = {part: folder / str(number) for number, part in enumerate(parts)}
            for part, place in places.items():
                _take(tar, part, place, file, progress)
            if tar.next() is not None:
                raise _not_imported(file, "it holds more than its index names")
            lacking = _lacking(cache)
            new = [p for p in parts if _enter(known[p], places[p], cache, lacking)]
    except tarfile.TarError as error:
        raise _not_imported(file, f"it is no such file, or cut off: {error}") from error
    except OSError as error:
        cache_ = f"a cache ({ENVIRONMENT_VARIABLE}: {cache.root}) that can be written"
        why = f"{told(error)}; give a tar that can be read, and {cache_}"
        raise cannot_bundle("import", file, why) from error
    progress.done()
    return Imported(len(parts), len(new), sum(part.size for part in new))


def _index(tar: tarfile.TarFile, file: Path) -> tuple[BundleFile, ...]:
    member = tar.next()
    content = tar.extractfile(member) if member and member.name == INDEX else None
    if content is None or member is None or member.size > INDEX_BYTES:
        raise _not_imported(
            file, f"it does not begin with {INDEX}; write one with harness cache export"
        )
    try:
        return TypeAdapter(tuple[BundleFile, ...]).validate_json(content.read())
    except ValidationError as error:
        raise _not_imported(file, f"its {INDEX} cannot be read") from error


def _check_known(
    parts: Sequence[BundleFile], known: Mapping[BundleFile, ArtifactOrJre], file: Path
) -> None:
    strange = [part.name for part in parts if part not in known]
    if strange:
        raise _not_imported(
            file,
            f"this version does not know {strange[0]!r} ({len(strange)} such files); another "
            "version of the harness exported it, or one on another platform",
        )


def _take(
    tar: tarfile.TarFile, part: BundleFile, place: Path, file: Path, progress: Progress
) -> None:
    """Write one file to the side; its name in the tar is compared and never used as a path."""
    member = tar.next()
    if member is None or (member.name, member.size) != (part.name, part.size):
        raise _not_imported(
            file, f"where its index names {part.name!r} is {member and member.name!r}"
        )
    content = tar.extractfile(member) if member.isreg() else None
    if content is None:
        raise _not_imported(file, f"its member {member.name!r} is no file")
    read = Hashed(content, progress)  # type: ignore[arg-type]
    with place.open("wb") as out:
        shutil.copyfileobj(read, out, CHUNK)
    if read.sha256 != part.sha256:
        raise _not_imported(
            file, f"{part.name!r} has another SHA-256 than the lock says: {read.sha256}"
        )


def _lacking(cache: Cache) -> frozenset[str]:
    """The SHA-256 of each artifact and wheel that is missing; of none that is unpacked already."""
    every = [distributions.load(name) for name in distributions.names()]
    files = (a.sha256 for each in every for a in fetch.missing_artifacts(each, cache))
    wheels = (wheel.sha256 for each in every for wheel in python_home.missing(each, cache))
    return frozenset((*files, *wheels))


def _enter(what: ArtifactOrJre, place: Path, cache: Cache, lacking: Collection[str]) -> bool:
    """Move a verified file to where it belongs; False when nothing needs it there."""
    if isinstance(what, str):
        new = not jre.folder(what, cache).is_dir()
        jre.install(place, what, cache)
        return new
    if what.sha256 not in lacking:
        return False
    if isinstance(what, IndexFile):
        python_home.keep(place, what, cache)
        return True
    path = cache.artifact(what)
    with cache.lock(path):
        place.replace(path)
        cache.stamp(what)
        return True
