"""PySpark in another version than the Python environment has: unpacked as Spark's own archive is.

Its source archive has the jars, the scripts and the Python package in it; nothing of it is built.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Final

from harness.artifacts import python_index, unpack
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.artifacts.lock import FileForm
from harness.artifacts.python_index import IndexFile
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.yaml_reader import load_yaml

PROJECT: Final = "pyspark"
SETTING: Final = "pyspark"
"""The setting of a distribution that names the version."""
_PARTS: Final = {
    "deps/bin": "bin",
    "deps/jars": "jars",
    "lib": "python/lib",
    "pyspark": "python/pyspark",
}
"""Where each part of the archive stands in an unpacked Spark."""


def _no_pyspark(version: str, known: tuple[str, ...]) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"PySpark {version} is not known; known are {', '.join(known)}, and "
        f"{metadata.version(PROJECT)}, which this Python environment has"
    )


def required_archive(distribution: Distribution) -> IndexFile | None:
    """Return what a distribution needs; None: nothing that the environment has not.

    Raises EnvironmentProblem: there is no such version.
    """
    version = distribution.settings.get(SETTING)
    if not isinstance(version, str) or version == metadata.version(PROJECT):
        return None
    if version not in _known():
        raise _no_pyspark(version, tuple(_known()))
    result = _known()[version]
    return IndexFile(PROJECT, version, result.size, result.sha256, source=True)


def folder(archive: IndexFile, cache_: Cache) -> Path:
    return cache_.root / "spark" / f"{archive.version}-{archive.sha256[:16]}"


def ensure(archive: IndexFile, cache_: Cache, progress: Progress) -> Path:
    """Fetch and unpack a version unless it is there; return its folder.

    Raises EnvironmentProblem: it cannot be had, or not be written.
    """
    target = folder(archive, cache_)

    def fetch(work: Path) -> Path:
        progress.start(f"fetch {archive.name} → {target}", archive.size)
        file = python_index.download(archive, work)
        progress.advance(archive.size)
        progress.done()
        progress.note(f"unpack {archive.name} → {target}")
        unpack.unpack_tar(file, work / "all", tuple(_PARTS))
        home = work / "home"
        for part, path in _PARTS.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (work / "all" / part).rename(home / path)
        for script in (home / "bin").iterdir():
            script.chmod(0o755)
        return home

    return cache_.make_once(target, fetch)


@cache
def _known() -> dict[str, FileForm]:
    text = (resources.files("harness.artifacts") / "pysparks.yaml").read_text(encoding="utf-8")
    return load_yaml(dict[str, FileForm], text, "pysparks.yaml", "the versions")[0]
