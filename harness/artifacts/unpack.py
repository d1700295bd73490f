"""Unpack chosen folders of a tarball, or a wheel, with every path checked."""

import gzip
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final, cast

from harness.core.errors import EnvironmentProblem
from harness.core.grouping import grouped

MOST_TIMES: Final = 20
MOST_BESIDE: Final = 64 << 20
"""An archive may grow to so many times its size and so many bytes more; archives of jars hardly do.
"""
MOST_MEMBERS: Final = 200_000


def _refused(archive: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"{archive}: refused, {reason}")


def unpack_tar(archive: Path, target: Path, members: Sequence[str]) -> None:
    """Unpack `members` (files or folders, without the archive's top folder; none: all).

    Files shared between plugins are hard links whose content may stand under a plugin that is not
    requested (Trino 368 and later, PrestoSQL 350): one pass finds which names share a content, a
    second one writes it.
    """
    try:
        lacking = _names_by_content(archive, members)
        with _opened(archive) as tar:
            for member in tar:
                name = _inside_top(archive, member.name)
                content = tar.extractfile(member) if member.isreg() and name in lacking else None
                if content is not None:
                    executable = bool(member.mode & 0o100)
                    _write(content, target, lacking.pop(name), executable=executable)
    except _BROKEN as error:
        raise EnvironmentProblem(f"{archive}: cannot be unpacked: {error}") from error
    for name, needed in lacking.items():
        raise EnvironmentProblem(f"{archive}: it has no content {name!r} for {', '.join(needed)}")


def unpack_wheel_folder(wheel: Path, folder: str, target: Path) -> None:
    """Unpack the files below `folder` of a wheel; its programs are made executable.

    A file that another wheel brought before stays as it is.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if size > _most(wheel) or len(entries) > MOST_MEMBERS:
                raise _bomb(wheel)
            names = {entry.filename for entry in entries if not entry.is_dir()}
            there = {name for name in names if (target / name).exists()}
            for entry in entries:
                if entry.filename not in there:
                    _unpack_entry(archive, entry, wheel, folder, target)
    except _BROKEN as error:
        raise EnvironmentProblem(f"{wheel}: cannot be unpacked: {error}") from error


def _unpack_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, wheel: Path, folder: str, target: Path
) -> None:
    path = _inside(wheel, entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _odd(wheel, entry.filename)
    if entry.is_dir() or not path.is_relative_to(folder):
        return
    name = str(path.relative_to(folder))
    # Zip unpacking loses the executable bits; these are the JRE's programs.
    executable = name.startswith("bin/") or path.name == "jspawnhelper"
    with archive.open(entry) as content:
        _write(content, target, [name], executable=executable)


_BROKEN: Final = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile),
    *(EOFError, zlib.error, ValueError),
)
"""What broken archives end in; ValueError: a name with a NUL, a number out of range."""


class _Limited:
    """The content of a gzip file, as long as it is not far more than the file's size."""

    def __init__(self, archive: Path, content: gzip.GzipFile) -> None:
        self._archive, self._content = archive, content
        self._left = _most(archive)

    def read(self, size: int) -> bytes:
        result = self._content.read(size)
        self._left -= len(result)
        if self._left < 0:
            raise _bomb(self._archive)
        return result


@contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    with gzip.open(archive, "rb") as content:
        limited = cast("IO[bytes]", _Limited(archive, content))
        with tarfile.open(fileobj=limited, mode="r|") as tar:
            yield tar


def _most(archive: Path) -> int:
    return archive.stat().st_size * MOST_TIMES + MOST_BESIDE


def _bomb(archive: Path) -> EnvironmentProblem:
    return _refused(archive, "it holds far more than an archive of its size")


def _names_by_content(archive: Path, members: Sequence[str]) -> dict[str, list[str]]:
    links: dict[str, str] = {}
    selected: list[str] = []
    for name, entry in _entries(archive):
        if entry.islnk():
            links[name] = _inside_top(archive, entry.linkname)
        if _is_selected(name, members) and not entry.isdir():
            if not (entry.isreg() or entry.islnk()):
                raise _odd(archive, entry.name)
            selected.append(name)
    for member in members:
        if not any(_is_selected(name, [member]) for name in selected):
            raise EnvironmentProblem(f"{archive}: it has no member {member!r}")
    return grouped((_content_of(archive, name, links), name) for name in selected)


def _content_of(archive: Path, name: str, links: Mapping[str, str]) -> str:
    seen = {name}
    while name in links:
        name = links[name]
        if name in seen:
            raise EnvironmentProblem(f"{archive}: hard links in a circle at {name!r}")
        seen.add(name)
    return name


def _entries(archive: Path) -> Iterator[tuple[str, tarfile.TarInfo]]:
    with _opened(archive) as tar:
        for at, entry in enumerate(tar):
            if at >= MOST_MEMBERS:
                raise _bomb(archive)
            yield _inside_top(archive, entry.name), entry


def _inside_top(archive: Path, name: str) -> str:
    return "/".join(_inside(archive, name).parts[1:])


def _inside(archive: Path, name: str) -> PurePosixPath:
    """Return a member's path; refuse one that leaves the tree."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise _refused(archive, f"its member {name!r} leaves the tree")
    return path


def _odd(archive: Path, name: str) -> EnvironmentProblem:
    what = "it is neither a file, a folder nor a hard link"
    return _refused(archive, f"its member {name!r}: {what}")


def _is_selected(name: str, members: Sequence[str]) -> bool:
    return bool(name) and (
        not members or any(name == m or name.startswith(f"{m}/") for m in members)
    )


def _write(content: IO[bytes], target: Path, names: Sequence[str], *, executable: bool) -> None:
    """Write one content read-only under its first name, and link the others to it."""
    first = target / names[0]
    first.parent.mkdir(parents=True, exist_ok=True)
    with first.open("xb") as out:
        shutil.copyfileobj(content, out, 1 << 20)
    first.chmod(0o555 if executable else 0o444)
    for name in names[1:]:
        other = target / name
        other.parent.mkdir(parents=True, exist_ok=True)
        os.link(first, other)
