"""Write the tar of a bundle: what is not in the cache as it was downloaded is fetched for it."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from harness.artifacts import fetch, jre, python_index, repository
from harness.artifacts.bundle import (
    INDEX,
    ArtifactOrJre,
    BundleFile,
    Hashed,
    cannot_bundle,
    sources,
    workspace,
)
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact, Distribution
from harness.artifacts.download import ExpectedFile, connected, download
from harness.core.errors import UsageProblem, told
from harness.core.progress import Progress


def export(needed: Sequence[Distribution], file: Path, cache: Cache, progress: Progress) -> int:
    """Write the tar of what distributions need, complete or not at all; give its bytes.

    Raises EnvironmentProblem: something cannot be had or written, or is not what the lock says;
    UsageProblem: no such file can be, told before anything is downloaded.
    """
    _check(file)
    wanted = sources(needed)
    unfinished = file.with_name(f"{file.name}.part")
    with workspace(cache) as folder:
        paths = _collected(wanted, cache, folder, progress)
        try:
            progress.start(f"export {file}", sum(part.size for part in wanted))
            if changed := _write(unfinished, paths, progress):
                why = f"{changed} is not what the lock says; remove it, and fetch it again"
                raise cannot_bundle("write", file, why)
            unfinished.replace(file)
        except OSError as error:
            why = "name a file in a folder that is there, can be written and has room"
            raise cannot_bundle("write", file, f"{told(error)}; {why}") from error
        finally:
            unfinished.unlink(missing_ok=True)
            progress.done()
    return file.stat().st_size


def _check(file: Path) -> None:
    if file.is_dir():
        raise UsageProblem(f"{file} is a folder; name the file to write, as engines.tar")
    if not file.parent.is_dir():
        told = f"cannot be written: there is no folder {file.parent} for {file.name}; make it first"
        raise UsageProblem(f"{file} {told}")


def _collected(
    wanted: Mapping[BundleFile, ArtifactOrJre], cache: Cache, folder: Path, progress: Progress
) -> dict[BundleFile, Path]:
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


def _named(part: BundleFile, source: ArtifactOrJre) -> fetch.Missing:
    if isinstance(source, Artifact):
        return fetch.Missing(source.file_name, part.size)
    return fetch.Missing(f"JRE {source}" if isinstance(source, str) else source.name, part.size)


def _downloaded(
    lacking: Mapping[BundleFile, ArtifactOrJre], folder: Path, progress: Progress
) -> dict[BundleFile, Path]:
    found: dict[BundleFile, Path] = {}
    with connected(repository.configured()) as source:
        for number, (part, what) in enumerate(lacking.items()):
            place = folder / str(number)
            if isinstance(what, Artifact):
                wanted = ExpectedFile(what.coordinates.repository_path, part.size, part.sha256)
                download(wanted, place, source, progress)
                found[part] = place
            else:
                place.mkdir()
                found[part] = (
                    jre.download(what, place)
                    if isinstance(what, str)
                    else python_index.download(what, place)
                )
                progress.advance(part.size)
    return found


def _write(file: Path, paths: Mapping[BundleFile, Path], progress: Progress) -> Path | None:
    """Write the tar; return the first file that is not what the lock says, and stop there."""
    index = json.dumps([asdict(part) for part in paths], indent=1).encode()
    with tarfile.open(file, "w") as tar:
        tar.addfile(_member(INDEX, len(index)), io.BytesIO(index))
        for part, path in paths.items():
            with path.open("rb") as content:
                read = Hashed(content, progress)
                tar.addfile(_member(part.name, part.size), read)
                if read.sha256 != part.sha256:
                    return path
    return None


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member
