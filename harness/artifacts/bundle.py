"""Carry what distributions need into a closed network: one tar file, checked against the locks.

The tar holds `index.json` and then, in its order, the files that it names: artifacts as a
repository has them, and the wheels of JREs and of programs of Python. What is unpacked already is
not kept in the cache and is downloaded anew for it. A file enters a cache only when the lock data
of *this* installation names its SHA-256 and it has it: nothing else that the tar says is believed.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from harness.artifacts import cache_mark, distributions, jre, python_home
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact, Distribution
from harness.artifacts.python_index import IndexFile
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress

INDEX: Final = "index.json"


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file of the tar; `size` in bytes."""

    name: str
    size: int
    sha256: str


ArtifactOrJre = Artifact | IndexFile | str
"""An artifact, a wheel, or the feature release of a JRE."""


def cannot_bundle(task: Literal["write", "import"], file: Path, reason: str) -> EnvironmentProblem:
    """Return the problem that a bundle cannot be written, or not be brought into a cache."""
    """Return the problem that a bundle cannot be written, or not be brought into a cache."""
    return EnvironmentProblem(f"cannot {task} {file}: {reason}")


def key(needed: Iterable[Distribution]) -> str:
    """Return the digest of everything that distributions download on this platform (hexadecimal).

    It changes when, and only when, something else must be downloaded: a key for caches of CI.
    """
    return distributions.digest_of(sorted(part.sha256 for part in sources(needed)))


@contextmanager
def workspace(cache: Cache) -> Iterator[Path]:
    """Yield a folder for files on their way, to one harness at a time."""
    cache_mark.claim(cache)
    place = cache.root / "parcel"
    with cache.lock(place), cache.workspace(place) as folder:
        yield folder


def sources(needed: Iterable[Distribution]) -> dict[BundleFile, ArtifactOrJre]:
    """Everything to carry, each file once, in a fixed order."""
    found: dict[BundleFile, ArtifactOrJre] = {}
    for each in needed:
        if each.jre:
            java = jre.wheel(each.jre)
            found[BundleFile(f"jre/{each.jre}.whl", java.size, java.sha256)] = each.jre
        for wheel in python_home.wanted(each):
            name = f"python/{wheel.project}-{wheel.sha256[:16]}.whl"
            found[BundleFile(name, wheel.size, wheel.sha256)] = wheel
        for artifact in each.artifacts:
            name = f"artifacts/{artifact.sha256[:16]}/{artifact.file_name}"
            found[BundleFile(name, artifact.size, artifact.sha256)] = artifact
    return dict(sorted(found.items(), key=lambda item: item[0].name))


class Hashed(io.RawIOBase):
    """A file that tells the SHA-256 of what was read from it, and how far it is."""

    def __init__(self, content: BinaryIO, progress: Progress) -> None:
        self._content, self._progress, self._digest = content, progress, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        data = self._content.read(size)
        self._digest.update(data)
        self._progress.advance(len(data))
        return data

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of what was read so far."""
        return self._digest.hexdigest()
