"""What happens in a table's folder, told by the kernel as it happens (inotify of Linux)."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

CREATED: Final = 0x100
REMOVED: Final = 0x200
MOVED: Final = 0x40 | 0x80
WRITTEN: Final = 0x8
IS_FOLDER: Final = 0x40000000
NO_WAITING: Final = os.O_NONBLOCK | os.O_CLOEXEC
HEAD: Final = struct.Struct("iIII")
WORDS: Final = {0x8: "written", 0x40: "moved away", 0x80: "moved", 0x100: "made", 0x200: "removed"}
ROOM: Final = 65536


class FolderEvents:
    """Watches a folder and all folders in it, also those that come."""

    def __init__(self, folder: Path) -> None:
        """Begin to watch `folder`."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._file = self._libc.inotify_init1(NO_WAITING)
        self._folders: dict[int, Path] = {}
        self._root = folder
        self._watch(folder)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Watch no more."""
        os.close(self._file)

    def read(self, timeout_s: float) -> Iterator[str]:
        """Yield what happened, each as `made .hoodie/…`; nothing if nothing does in that time."""
        data = self._next(timeout_s)
        while data or (data := self._next(0)):
            watch, mask, _, length = HEAD.unpack_from(data)
            name = data[HEAD.size : HEAD.size + length].rstrip(b"\0").decode()
            data = data[HEAD.size + length :]
            folder = self._folders.get(watch, self._root)
            if mask & IS_FOLDER and mask & CREATED:
                self._watch(folder / name)
            if word := WORDS.get(mask & (CREATED | REMOVED | MOVED | WRITTEN)):
                yield f"{word} {(folder / name).relative_to(self._root)}"

    def _next(self, timeout_s: float) -> bytes:
        ready, _, _ = select.select([self._file], [], [], timeout_s)
        return os.read(self._file, ROOM) if ready else b""

    def _watch(self, folder: Path) -> None:
        for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            mask = CREATED | REMOVED | MOVED | WRITTEN
            watch = self._libc.inotify_add_watch(self._file, bytes(each), mask)
            if watch >= 0:  # else it is gone again
                self._folders[watch] = each
