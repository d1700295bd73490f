"""Write lock data of another version: fetch what rules name, measure it, write it down."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from harness.artifacts import (
    distributions,
    download,
    fetch,
    python_index,
    repository,
    version_rules,
)
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact, Distribution, coordinates
from harness.artifacts.download import OpenRepository
from harness.core import yaml_writer
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.core.runtime_names import AT, CONTAINER

_MB: Final = 1_000_000


def _not_added(name: str, reason: str) -> UsageProblem:
    return UsageProblem(f"{name} cannot be added: {reason}")


def check(name: str) -> None:
    """Raise where a version is there already, has no rules, or is of an unknown PySpark."""
    if name in distributions.LOCKS.names():
        raise _not_added(name, "the harness already has it")
    if name.startswith("hive-"):
        reason = "Hive's hundred jars must be chosen by Maven; docs/locks.md shows how"
        raise _not_added(name, reason)
    if not version_rules.knows(name):
        known = version_rules.product_ranges()
        raise _not_added(name, f"there are rules only for {known}")
    if not version_rules.downloads(name):
        raise _not_added(name, "no rule says which files this version needs")
    python_index.program_home(distributions.load(f"{name}{AT}{CONTAINER}"))


def add(name: str, folder: Path, cache: Cache, progress: Progress) -> Path:
    """Return the file of lock data that was written; the distribution is in the cache then."""
    check(name)
    if cache.offline:
        raise _not_added(name, "its files must be downloaded, and the harness is offline")
    cache.claim()
    with download.connected(repository.configured()) as source:
        artifacts = [
            _measured(role, file, cache, source, progress)
            for role, files in version_rules.downloads(name).items()
            for file in (files if isinstance(files, list) else [files])
        ]
    file = folder / f"{name}.yaml"
    _write(file, name, artifacts, disk_mb=0)
    _write(file, name, artifacts, disk_mb=_disk_mb(distributions.load(name), cache, progress))
    return file


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
    trees = [there.java_home, *([there.home] if there.home else [])]
    files = {path.stat().st_ino: path.stat().st_size for tree in trees for path in tree.rglob("*")}
    cached = sum(path.stat().st_size for _, path in there.files)
    return round((sum(files.values()) + cached) / _MB)


def _write(file: Path, name: str, artifacts: list[Artifact], disk_mb: int) -> None:
    by_role: dict[str, list[dict[str, object]]] = {}
    for artifact in artifacts:
        entry = {"get": str(artifact.coordinates), "size": artifact.size, "sha256": artifact.sha256}
        with_members = entry | ({"members": list(artifact.members)} if artifact.members else {})
        by_role.setdefault(artifact.into, []).append(with_members)
    product, version = next(iter(version_rules.versions(name).items()))
    data = {
        "name": name,
        "version": version,
        "rules": product,
        "disk_mb": disk_mb,
        "artifacts": yaml_writer.block(
            {role: yaml_writer.block(entries) for role, entries in by_role.items()}
        ),
    }
    text = yaml_writer.written(yaml_writer.block(data), offset=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as part:
        part.write_text(text, encoding="utf-8")
    distributions.register(name, text, str(file))
