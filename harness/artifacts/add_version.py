"""Write lock data of another version: fetch what rules name, measure it, write it down."""

import email
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.artifacts import (
    distributions,
    download,
    fetch,
    python_index,
    repository,
    version_rules,
)
from harness.artifacts.cache import Cache, file_sha256
from harness.artifacts.distribution import Artifact, Distribution, coordinates
from harness.artifacts.download import OpenRepository
from harness.artifacts.python_index import IndexFile
from harness.artifacts.version_rules import Data
from harness.core import yaml_writer
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.core.runtime_names import AT, CONTAINER

_MB: Final = 1_000_000


def check(name: str) -> None:
    """Raise where a version is there already, has no rules, or is of an unknown PySpark."""
    if why := distributions.why_not_added(name):
        raise UsageProblem(f"{name} cannot be added: {why}")
    if version_rules.WHEELS not in version_rules.downloads(name):
        python_index.program_home(distributions.load(f"{name}{AT}{CONTAINER}"))


def add(name: str, folder: Path, cache: Cache, progress: Progress) -> Path:
    """Return the file of lock data that was written; the distribution is in the cache then."""
    check(name)
    if cache.offline:
        reason = "its files must be downloaded, and the harness is offline"
        raise UsageProblem(f"{name} cannot be added: {reason}")
    cache.claim()
    file = folder / f"{name}.yaml"
    if version_rules.WHEELS in version_rules.downloads(name):
        return _add_library(file, name, cache, progress)
    with download.connected(repository.configured()) as source:
        artifacts = [
            _measured(role, file, cache, source, progress)
            for role, files in version_rules.downloads(name).items()
            for file in (files if isinstance(files, list) else [files])
        ]
    by_role: dict[str, list[dict[str, object]]] = {}
    for artifact in artifacts:
        entry = {"get": str(artifact.coordinates), "size": artifact.size, "sha256": artifact.sha256}
        with_members = entry | ({"members": list(artifact.members)} if artifact.members else {})
        by_role.setdefault(artifact.into, []).append(with_members)
    blocks = {role: yaml_writer.block(entries) for role, entries in by_role.items()}
    return _add(file, name, {"artifacts": yaml_writer.block(blocks)}, cache, progress)


def _add(file: Path, name: str, what: Data, cache: Cache, progress: Progress) -> Path:
    _write(file, name, what, disk_mb=0)
    _write(file, name, what, disk_mb=_disk_mb(distributions.load(name), cache, progress))
    return file


def _add_library(file: Path, name: str, cache: Cache, progress: Progress) -> Path:
    """Add a library of Python: its own wheels for this machine, the others as they are shipped."""
    rules = version_rules.downloads(name)
    beside = distributions.load(rules[version_rules.OTHERS_OF]).wheels
    locked = {package.partition("==")[0]: package for package in beside}
    wheels: dict[str, Any] = {}
    asked = [Requirement(text) for text in rules[version_rules.WHEELS]]
    requirements = list[Requirement]()
    with tempfile.TemporaryDirectory() as folder:
        while asked:  # then what these require
            requirements += asked
            work = Path(folder) / str(len(requirements))
            work.mkdir()
            progress.note(f"fetch {', '.join(map(str, asked))}")
            required = list[Requirement]()
            for wheel in python_index.choose([str(requirement) for requirement in asked], work):
                project, version, others = _described(wheel)
                required += others
                locked[project] = f"{project}=={version}"
                stamp = IndexFile(project, version, wheel.stat().st_size, file_sha256(wheel))
                label = python_index.wheel_label(wheel, *reversed(python_index.machines()[:2]))
                wheels[locked[project]] = {label: {"size": stamp.size, "sha256": stamp.sha256}}
                stamp.brought(cache).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(wheel, stamp.brought(cache))
            unmet = [other for other in required if _is_unmet(other, locked, requirements)]
            asked = list({canonicalize_name(other.name): other for other in unmet}.values())
    shared = {
        package: {machine: asdict(entry) for machine, entry in by_machine.items()}
        for package, by_machine in beside.items()
        if package in locked.values()
    }
    blocks = {
        package: yaml_writer.block(by_machine)
        for package, by_machine in {**wheels, **shared}.items()
    }
    return _add(file, name, {"wheels": yaml_writer.block(blocks)}, cache, progress)


def _is_unmet(
    other: Requirement, locked: Mapping[str, str], requested: Sequence[Requirement]
) -> bool:
    name = canonicalize_name(other.name)
    if name in {canonicalize_name(requirement.name) for requirement in requested}:
        return False
    version = locked.get(name, "").partition("==")[2]
    return not version or not other.specifier.contains(version, prereleases=True)


def _described(wheel: Path) -> tuple[str, str, list[Requirement]]:
    """Return project, version, and what it requires here, as a wheel says it (PEP 427, 566)."""
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (path for path in archive.namelist() if path.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(entry))
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist", ())]
    here = [r for r in required if not r.marker or r.marker.evaluate({"extra": ""})]
    return canonicalize_name(metadata["Name"]), metadata["Version"], here


def _measured(
    role: str, file: dict[str, Any], cache: Cache, source: OpenRepository, progress: Progress
) -> Artifact:
    """Return an artifact with its size and SHA-256; it is in the cache then."""
    result = coordinates(file["get"])
    # A folder of the cache's own kind, as long as its SHA-256, which names it later, is not known.
    path = distributions.digest_of(str(result))[:16]
    part = cache.root / "artifacts" / path / f"{result.file_name}.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    with cache.lock(part):
        size, sha256 = download.measure(result.repository_path, part, source, progress)
        artifact = Artifact(result, size, sha256, role, tuple(file.get("members", ())))
        cache.artifact(artifact).parent.mkdir(parents=True, exist_ok=True)
        part.replace(cache.artifact(artifact))
        cache.stamp(artifact)
    return artifact


def _disk_mb(distribution: Distribution, cache: Cache, progress: Progress) -> int:
    """Return the megabytes that a distribution takes in the cache, where it is then."""
    there = fetch.ensure(distribution, cache, progress)
    trees = [*([there.java_home] if there.java else []), *([there.home] if there.home else [])]
    files = {path.stat().st_ino: path.stat().st_size for tree in trees for path in tree.rglob("*")}
    cached = sum(path.stat().st_size for _, path in there.files)
    return round((sum(files.values()) + cached) / _MB)


def _write(file: Path, name: str, what: Data, disk_mb: int) -> None:
    product, version = next(iter(version_rules.versions(name).items()))
    data = {"name": name, "version": version, "rules": product, "disk_mb": disk_mb, **what}
    text = yaml_writer.written(yaml_writer.block(data), offset=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as part:
        part.write_text(text, encoding="utf-8")
    distributions.register(name, text, str(file))
