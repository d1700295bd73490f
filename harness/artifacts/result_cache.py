"""What follows from records and files alone, kept from run to run; nothing that an engine says.

A result is found again by all that decides it: what it is made from, and the code that makes it.
That is every file of the harness, with the data in it, and the versions of Python and of all
packages that are installed. Where a package adds to the harness nothing is kept: its code may
change under one version.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness.artifacts import spread_files
from harness.artifacts.cache import Cache
from harness.artifacts.distributions import digest_of
from harness.core import jsonl, registry
from harness.core.jsonl import Record

FOLDER: Final = "results"
HARNESS: Final = Path(__file__).parents[1]
INSTALLED: Final = (".dist-info", ".egg-info")
"""How the names end that say which version of a package is installed."""


@dataclass(frozen=True, slots=True)
class ResultCache:
    """The results that runs have worked out, one file each."""

    folder: Path
    code: str
    """The digest of the code that makes them; empty: nothing is kept."""

    @classmethod
    def of(cls, cache: Cache) -> ResultCache:
        """Return the results that are kept in a cache."""
        return cls(cache.root / FOLDER, "" if registry.added() else own_code())

    def records(
        self,
        kind: type[Record],
        made_from: Iterable[str],
        make: Callable[[], Iterable[Record]],
        lasts: Callable[[Record], bool],
    ) -> tuple[Record, ...]:
        """Return the records that `make` returns, or has returned before.

        Args:
            kind: what they are.
            made_from: all that `make` looks at, but for the code of the harness.
            make: works them out.
            lasts: whether a record would be the same the next time; if not, none is kept.

        """
        if not self.code:
            return tuple(make())
        name = f"{digest_of([self.code, kind.__name__, list(made_from)])}.jsonl"
        found = _read(spread_files.place(self.folder, name), kind)
        if found is None:
            found = tuple(make())
            if all(map(lasts, found)):
                with suppress(OSError):  # what cannot be kept is worked out again
                    self._keep(name, found)
        return found

    def _keep(self, name: str, records: Iterable[Record]) -> None:
        lines = "".join(f"{jsonl.dump(each)}\n" for each in records).encode()
        spread_files.write(self.folder, name, _sum(lines) + lines)


def _read(path: Path, kind: type[Record]) -> tuple[Record, ...] | None:
    """Read what is kept; None where nothing is, or not all: the machine may have gone down."""
    try:
        head, *lines = path.read_bytes().splitlines(keepends=True)
    except (OSError, ValueError):
        return None
    if head != _sum(b"".join(lines)):
        return None
    return tuple(jsonl.parse(kind, line) for line in lines)


def _sum(lines: bytes) -> bytes:
    return hashlib.sha256(lines).hexdigest().encode() + b"\n"


@cache
def own_code(root: Path = HARNESS) -> str:
    """Return the SHA-256 (hexadecimal) of all code that may take part; empty: not all can be read.

    `root`: of the harness.
    """
    try:
        return _digest(root)
    except OSError:
        return ""


def _digest(root: Path) -> str:
    digest = hashlib.sha256(f"{sys.version}\n{sorted(_installed())}\n".encode())
    for name in _files(str(root)):
        content = Path(root, name).read_bytes()
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()


def _installed() -> Iterator[str]:
    """Yield the names that say which version of each package is installed."""
    for folder in filter(Path.is_dir, map(Path, sys.path)):
        yield from (each.name for each in folder.iterdir() if each.name.endswith(INSTALLED))


def _files(folder: str, below: str = "") -> Iterator[str]:
    """Yield every file below a folder by its path from there, but for what Python compiles."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda each: each.name)
    for each in entries:
        if each.is_file():
            yield below + each.name
        elif each.is_dir() and each.name != "__pycache__":
            yield from _files(each.path, f"{below}{each.name}/")
