"""Carry what distributions need into a closed network: one tar file, checked against the locks.

The tar holds `index.json` and then, in its order, the files that it names: artifacts as a
repository has them, and the wheels of JREs. What is unpacked already is not kept in the cache and
is downloaded anew for it. A file enters a cache only when the lock data of *this* installation
names its SHA-256 and it has it: nothing else that the tar says is believed.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final

from pydantic import TypeAdapter, ValidationError

from harness.errors import EnvironmentProblem
from harness.progress import Progress
from harness.runtimes import distributions, fetch, jre, repository
from harness.runtimes.cache import Cache
from harness.runtimes.distribution import Artifact, Distribution
from harness.runtimes.download import Wanted, connected, download

INDEX: Final = "index.json"
INDEX_BYTES: Final = 1 << 20
"""An index is shorter than this: one of every distribution has some 100 kB."""
CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the tar; `size` in bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: how many files, and how many of them were not there yet."""

    files: int
    new: int
    size: int


Source = Artifact | str
"""An artifact, or the feature release of a JRE."""


def key(needed: Iterable[Distribution]) -> str:
    """Give the digest of everything that distributions download on this platform (hexadecimal).

    It changes when, and only when, something else must be downloaded: a key for caches of CI.
    """
    return distributions.digest_of(sorted(part.sha256 for part in _sources(needed)))


def export(needed: Sequence[Distribution], file: Path, cache: Cache, progress: Progress) -> int:
    """Write the tar of what distributions need, complete or not at all; give its bytes.

    Raises EnvironmentProblem: something cannot be had, is not what the lock says, no room.
    """
    wanted = _sources(needed)
    unfinished = file.with_name(f"{file.name}.part")
    with _workspace(cache) as folder:
        paths = _collected(wanted, cache, folder, progress)
        try:
            progress.start(f"export {file}", sum(part.size for part in wanted))
            _write(unfinished, paths, progress)
            unfinished.replace(file)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {file}: {error}") from error
        finally:
            unfinished.unlink(missing_ok=True)
            progress.done()
    return file.stat().st_size


def load(file: Path, cache: Cache, progress: Progress) -> Imported:
    """Bring the files of a tar into the cache: all are verified before the first one enters.

    Raises EnvironmentProblem: no such tar, cut off, not of this version's locks, or hostile.
    """
    known = _sources(map(distributions.load, distributions.names()))
    try:
        with tarfile.open(file, "r:") as tar, _workspace(cache) as folder:
            parts = _index(tar, file)
            _check_known(parts, known, file)
            progress.start(f"import {file} → {cache.root}", sum(each.size for each in parts))
            places = {part: folder / str(number) for number, part in enumerate(parts)}
            for part, place in places.items():
                _take(tar, part, place, file, progress)
            if tar.next() is not None:
                raise _refused(file, "it holds more than its index names")
            lacking = _lacking(cache)
            new = [p for p in parts if _enter(known[p], places[p], cache, lacking)]
    except tarfile.TarError as error:
        raise _refused(file, f"it is no such file, or cut off: {error}") from error
    except OSError as error:
        raise EnvironmentProblem(f"cannot import {file} into {cache.root}: {error}") from error
    progress.done()
    return Imported(len(parts), len(new), sum(part.size for part in new))


@contextmanager
def _workspace(cache: Cache) -> Iterator[Path]:
    place = cache.root / "parcel"
    with cache.lock(place), cache.workspace(place) as folder:
        yield folder


def _sources(needed: Iterable[Distribution]) -> dict[Part, Source]:
    """Everything to carry, each file once, in a fixed order."""
    found: dict[Part, Source] = {}
    for each in needed:
        wheel = jre.wheel(each.jre)
        found[Part(f"jre/{each.jre}.whl", wheel.size, wheel.sha256)] = each.jre
        for artifact in each.artifacts:
            name = f"artifacts/{artifact.sha256[:16]}/{artifact.file_name}"
            found[Part(name, artifact.size, artifact.sha256)] = artifact
    return dict(sorted(found.items(), key=lambda item: item[0].name))


def _collected(
    wanted: Mapping[Part, Source], cache: Cache, folder: Path, progress: Progress
) -> dict[Part, Path]:
    """Where each file is, once those that are not in the cache are downloaded."""
    held = {
        part: cache.artifact(source)
        for part, source in wanted.items()
        if isinstance(source, Artifact) and cache.seems_whole(source)
    }
    lacking = {part: source for part, source in wanted.items() if part not in held}
    fetch.check_online([_named(part, source) for part, source in lacking.items()], cache)
    if not lacking:
        return held
    progress.start("fetch what is not kept as it was downloaded", sum(p.size for p in lacking))
    fetched = _downloaded(lacking, folder, progress)
    progress.done()
    return {part: held.get(part) or fetched[part] for part in wanted}


def _named(part: Part, source: Source) -> fetch.Missing:
    name = f"JRE {source}" if isinstance(source, str) else source.file_name
    return fetch.Missing(name, part.size)


def _downloaded(
    lacking: Mapping[Part, Source], folder: Path, progress: Progress
) -> dict[Part, Path]:
    found: dict[Part, Path] = {}
    with connected(repository.configured()) as source:
        for number, (part, what) in enumerate(lacking.items()):
            place = folder / str(number)
            if isinstance(what, Artifact):
                wanted = Wanted(what.coordinates.repository_path, part.size, part.sha256)
                download(wanted, place, source, progress)
                found[part] = place
            else:
                place.mkdir()
                found[part] = jre.download(what, place)
                progress.advance(part.size)
    return found


def _write(file: Path, paths: Mapping[Part, Path], progress: Progress) -> None:
    index = json.dumps([asdict(part) for part in paths], indent=1).encode()
    with tarfile.open(file, "w") as tar:
        tar.addfile(_member(INDEX, len(index)), io.BytesIO(index))
        for part, path in paths.items():
            with path.open("rb") as content:
                read = _Hashed(content, progress)
                tar.addfile(_member(part.name, part.size), read)
                if read.sha256 != part.sha256:
                    raise EnvironmentProblem(
                        f"{path} is not what the lock says; remove it, and fetch it again"
                    )


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member


class _Hashed(io.RawIOBase):
    """A file that tells the SHA-256 of what was read from it, and how far it is."""

    def __init__(self, content: BinaryIO, progress: Progress) -> None:
        self._content, self._progress, self._digest = content, progress, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._content.read(size)
        self._digest.update(data)
        self._progress.advance(len(data))
        return data

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def _index(tar: tarfile.TarFile, file: Path) -> tuple[Part, ...]:
    member = tar.next()
    content = tar.extractfile(member) if member and member.name == INDEX else None
    if content is None or member is None or member.size > INDEX_BYTES:
        raise _refused(file, f"it does not begin with {INDEX}; write one with harness cache export")
    try:
        return TypeAdapter(tuple[Part, ...]).validate_json(content.read())
    except ValidationError as error:
        raise _refused(file, f"its {INDEX} cannot be read") from error


def _check_known(parts: Sequence[Part], known: Mapping[Part, Source], file: Path) -> None:
    strange = [part.name for part in parts if part not in known]
    if strange:
        raise _refused(
            file,
            f"this version does not know {strange[0]!r} ({len(strange)} such files); another "
            "version of the harness exported it, or one on another platform",
        )


def _take(tar: tarfile.TarFile, part: Part, place: Path, file: Path, progress: Progress) -> None:
    """Write one file to the side; its name in the tar is compared and never used as a path."""
    member = tar.next()
    if member is None or (member.name, member.size) != (part.name, part.size):
        raise _refused(file, f"where its index names {part.name!r} is {member and member.name!r}")
    content = tar.extractfile(member) if member.isreg() else None
    if content is None:
        raise _refused(file, f"its member {member.name!r} is no file")
    read = _Hashed(content, progress)  # type: ignore[arg-type]
    with place.open("wb") as out:
        shutil.copyfileobj(read, out, CHUNK)
    if read.sha256 != part.sha256:
        raise _refused(file, f"{part.name!r} has another SHA-256 than the lock says: {read.sha256}")


def _lacking(cache: Cache) -> frozenset[str]:
    """The SHA-256 of every artifact that is missing: not of an archive that is unpacked already."""
    every = map(distributions.load, distributions.names())
    return frozenset(a.sha256 for each in every for a in fetch.missing_artifacts(each, cache))


def _enter(what: Source, place: Path, cache: Cache, lacking: Collection[str]) -> bool:
    """Move a verified file to where it belongs; False when nothing needs it there."""
    if isinstance(what, str):
        new = not jre.folder(what, cache).is_dir()
        jre.install(place, what, cache)
        return new
    if what.sha256 not in lacking:
        return False
    path = cache.artifact(what)
    with cache.lock(path):
        place.replace(path)
        cache.stamp(what)
        return True


def _refused(file: Path, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"{file}: nothing of it was imported: {why}")
