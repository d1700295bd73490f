"""Make the server tree of a distribution: unpacked archives, jars put into it, patched classes."""

from __future__ import annotations

import glob
import os
import shutil
import zipfile
from pathlib import Path
from typing import Final

from harness.artifacts.cache import Cache
from harness.artifacts.distribution import ARCHIVE, Artifact, ClassPatch, Distribution
from harness.artifacts.java_classes import login_module, replace_code, replace_constants, written
from harness.artifacts.unpack import unpack_tar
from harness.core.errors import EnvironmentProblem, unwritable

UNIX_LOGIN: Final = "com.sun.security.auth.module.UnixLoginModule"
"""By it Hadoop asks the operating system who it is (`UserGroupInformation`)."""
PATCHES = "patches"
"""Folder of the patched classes inside the tree."""


def sources(distribution: Distribution) -> list[Artifact]:
    patched = {patch.jar for patch in distribution.patches}
    return [a for a in distribution.artifacts if a.in_tree or a.file_name in patched]


def make(distribution: Distribution, cache: Cache, home: Path) -> None:
    """Make the tree at `home`, whole or not at all, from artifacts that are in the cache.

    Raises EnvironmentProblem for an archive that cannot be used, or a full disk.
    """
    try:
        with cache.workspace(home) as folder:
            work = folder / "tree"
            work.mkdir()
            _fill(distribution, cache, work)
            work.rename(home)
    except OSError as error:
        raise unwritable(error, home) from error


def _fill(distribution: Distribution, cache: Cache, work: Path) -> None:
    for artifact in distribution.artifacts:
        if artifact.into == ARCHIVE:
            unpack_tar(cache.artifact(artifact), work, artifact.members)
    jars = [
        artifact
        for artifact in distribution.artifacts
        if artifact.in_tree and artifact.into != ARCHIVE
    ]
    for entry in jars:
        _remove_archived(entry, work / entry.folder)
    for entry in jars:
        _put_jar(cache.artifact(entry), work / entry.folder)
    for patch in distribution.patches:
        _patch(distribution, cache, patch, work / PATCHES)
    if main := distribution.main_class:
        inside = f"{main.name.replace('.', '/')}.class"
        _write_jar(work / "lib" / f"{main.name}.jar", inside, written(main))
    for folder in distribution.without_login:
        inside = f"{UNIX_LOGIN.replace('.', '/')}.class"
        _write_jar(work / folder / f"{UNIX_LOGIN}.jar", inside, login_module(UNIX_LOGIN))
    for service in distribution.services:
        jar, inside = f"{service.interface}.jar", f"META-INF/services/{service.interface}"
        _write_jar(work / service.folder / jar, inside, service.implementation.encode())


def _write_jar(jar: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(jar, "x") as made:
        made.writestr(zipfile.ZipInfo(name), content)


def _remove_archived(artifact: Artifact, folder: Path) -> None:
    """Remove what an archive has of an artifact in a folder: another version takes its place.

    Archives of Trino have the group in names as well: `io.trino_trino-hudi-476.jar`.
    """
    name = glob.escape(artifact.coordinates.artifact)
    for pattern in (f"{name}-[0-9]*.jar", f"*_{name}-[0-9]*.jar"):
        for older in folder.glob(pattern):
            older.unlink()


def _put_jar(jar: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        os.link(jar, folder / jar.name)
    except OSError:  # a file system without hard links
        shutil.copyfile(jar, folder / jar.name)


def _patch(distribution: Distribution, cache: Cache, patch: ClassPatch, folder: Path) -> None:
    jars = [a for a in distribution.artifacts if a.file_name == patch.jar]
    inside = patch.class_name.replace(".", "/") + ".class"
    try:
        with zipfile.ZipFile(cache.artifact(jars[0])) as jar:
            patched = replace_constants(jar.read(inside), dict(patch.replace))
        if patch.code:
            patched = replace_code(patched, patch.code)
    except (IndexError, KeyError, ValueError, zipfile.BadZipFile) as error:
        where = f"{distribution.name}: cannot patch {patch.class_name} of {patch.jar}"
        raise EnvironmentProblem(f"{where}: {error}") from error
    target = folder / inside
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(patched)
