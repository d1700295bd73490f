"""Read-only access to a table's folder, on a disk or wherever Arrow can read.

Arrow knows S3 by `AWS_ENDPOINT_URL` and `AWS_ACCESS_KEY_ID`, HDFS by `HADOOP_HOME`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import IO, Any, Final

from harness.core.arrow import fs, pa

LARGEST: Final = 64 << 20
"""Bytes of a record of a format that is still read: a file of metadata, a commit."""
MOST_FOLDERS: Final = 2_000
"""So many folders of a table are listed."""
_ARROWS: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "wasb": "abfs", "wasbs": "abfss"}
"""What Hadoop calls a store, and what Arrow does."""
_URI: Final = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*):(//(?P<authority>[^/]*))?(?P<path>/.*)?")
_CREDENTIALS: Final = re.compile(r"//[^/\s]*@")


class UnreadableError(Exception):
    """A table's files cannot be read; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    path: str
    """Relative to the table's folder."""
    folder: bool = False
    modified: float = 0.0
    """Seconds since 1970."""
    size: int = 0

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class TableFolder:
    """The folder of a table. Every method raises UnreadableError."""

    root: str
    files: Any
    """Arrow's file system."""
    store: str = field(default="", compare=False)
    """What a URI has before the root."""

    def listed(self, below: str = "") -> tuple[ListedFile, ...]:
        """Return what is in a folder, by name; nothing where there is no such folder."""
        chosen = fs.FileSelector(self._path(below), allow_not_found=True)
        with _read():
            infos = self.files.get_file_info(chosen)
        return tuple(
            ListedFile(
                f"{below}/{info.base_name}" if below else info.base_name,
                info.type == fs.FileType.Directory,
                (info.mtime_ns or 0) / 1e9,
                info.size or 0,
            )
            for info in sorted(infos, key=lambda info: str(info.base_name))
        )

    def text(self, path: str) -> bytes | None:
        """Return what a file of at most `LARGEST` bytes holds; None where there is none."""
        with _read():
            info = self.files.get_file_info(self._path(path))
            if info.type != fs.FileType.File:
                return None
            if (info.size or 0) > LARGEST:
                raise UnreadableError(f"{path} is larger than {LARGEST >> 20} MiB")
            with self.files.open_input_stream(self._path(path)) as file:
                return bytes(file.read())

    @contextmanager
    def opened(self, path: str) -> Iterator[IO[bytes]]:
        with _read(), self.files.open_input_file(self._path(path)) as file:
            yield file

    def exists(self) -> bool:
        """Return whether there is such a folder."""
        with _read():
            return bool(self.files.get_file_info(self.root).type == fs.FileType.Directory)

    def walk(self) -> Iterator[tuple[ListedFile, ...]]:
        """Yield what is in each folder, none of them hidden, nearest first; see `whole`."""
        waiting = deque([""])
        for _ in range(MOST_FOLDERS):
            if not waiting:
                return
            listed = self.listed(waiting.popleft())
            waiting += [file.path for file in listed if file.folder and file.name[0] not in "._"]
            yield tuple(file for file in listed if not file.folder)
        if waiting:
            raise UnreadableError(f"it has more than {MOST_FOLDERS:,} folders")

    def below(self, path: str) -> TableFolder:
        return TableFolder(self._path(path), self.files, self.store)

    def location(self, path: str) -> str:
        return f"{self.store}{self._path(path)}"

    def _path(self, below: str) -> str:
        return f"{self.root}/{below}" if below else self.root


def at(location: str) -> TableFolder:
    """Return the folder at a path or URI of the catalog; raises UnreadableError."""
    if not location:
        raise UnreadableError("the catalog has no location of it")
    uri = _URI.fullmatch(location)
    if uri is None or uri["scheme"] == "file":
        path = uri["path"] if uri else location
        return TableFolder((path or "/").rstrip("/"), _files("file", ""))
    scheme, authority = uri["scheme"].lower(), uri["authority"] or ""
    files = _files(_ARROWS.get(scheme, scheme), authority)
    bucket = "" if scheme in {"hdfs", "viewfs"} else authority.rpartition("@")[2]
    root = f"{bucket}{(uri['path'] or '').rstrip('/')}"
    return TableFolder(root, files, f"{scheme}://{authority.removesuffix(bucket)}")


def holding(folder: TableFolder, location: str, path: str) -> tuple[TableFolder, str]:
    """Return where a full path is: in the folder at a location, or in a folder of its own."""
    inner, outer = _bare(path), f"{_bare(location)}/"
    if inner.startswith(outer):
        return folder, inner.removeprefix(outer)
    head, _, name = path.rpartition("/")
    return at(head), name


def _bare(uri: str) -> str:
    """Return a URI without its scheme: what one tool calls `s3a` another calls `s3`."""
    parts = _URI.fullmatch(uri)
    bare = f"{parts['authority'] or ''}{parts['path'] or ''}" if parts else uri
    return bare.rstrip("/")


@cache
def _files(scheme: str, authority: str) -> Any:  # noqa: ANN401 - Arrow has no types
    with _read():
        return fs.FileSystem.from_uri(f"{scheme}://{authority}/")[0]


@contextmanager
def _read() -> Iterator[None]:
    """Say of a problem why something cannot be read, without credentials that its text may have."""
    try:
        yield
    except (pa.ArrowException, OSError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        first = _CREDENTIALS.sub("//", why).partition("\n")[0]
        raise UnreadableError(first) from problem
