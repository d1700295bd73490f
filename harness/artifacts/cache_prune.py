"""What the cache holds, and removing what can be made again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import cache_mark
from harness.artifacts.cache import Cache, remove
from harness.artifacts.table_homes import TABLES

STATES: Final = "states"
ANSWERS: Final = "answers"
ARCHIVES: Final = "archives"
"""What servers start with, of classes; another file for each version of the jars."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of the cache: how many files it holds, and their bytes on disk."""

    name: str
    files: int
    size: int


def kept(cache: Cache) -> tuple[Kept, ...]:
    """Look at every folder of the cache; a file with several names counts where it is seen first.

    Jars stand both among the artifacts and in the trees that are made of them.
    """
    seen: set[tuple[int, int]] = set()
    folders = sorted(path for path in _entries(cache.root) if path.is_dir())
    return tuple(_kept(folder, seen) for folder in folders)


def prune(cache: Cache, before: float) -> tuple[Kept, ...]:
    """Remove states, answers, tables brought home and archives made before a time (s since 1970).

    All are made again by the next run that needs them; give what was removed of each. What has no
    name that the harness gives stays.

    Raises:
        UsageProblem: the folder is no cache.

    """
    cache_mark.check(cache)
    folders = _named(cache.root / ANSWERS, cache_mark.ANSWERS)
    answers = [path for folder in folders for path in _named(folder, cache_mark.ANSWER)]
    return (
        _removed(cache, STATES, _named(cache.root / STATES, cache_mark.STATE), before),
        _removed(cache, TABLES, _named(cache.root / TABLES, cache_mark.HOME), before),
        _removed(cache, ANSWERS, answers, before),
        _removed(cache, ARCHIVES, _named(cache.root / ARCHIVES, cache_mark.ARCHIVE), before),
    )


def _removed(cache: Cache, name: str, paths: Iterable[Path], before: float) -> Kept:
    old = [path for path in paths if path.stat().st_mtime < before]
    size = 0
    for path in old:
        if path.is_dir():
            size += _kept(path, set()).size
            with cache.lock(path):
                remove(path)
        else:
            size += path.stat().st_size
            path.unlink()
    return Kept(name, len(old), size)


def _kept(folder: Path, seen: set[tuple[int, int]]) -> Kept:
    files = size = 0
    for name, _, inside in os.walk(folder):
        for each in inside:
            stat = Path(name, each).lstat()
            files += 1
            size += 0 if (stat.st_dev, stat.st_ino) in seen else stat.st_size
            seen.add((stat.st_dev, stat.st_ino))
    return Kept(folder.name, files, size)


def _named(folder: Path, names: re.Pattern[str]) -> list[Path]:
    return [path for path in _entries(folder) if names.fullmatch(path.name)]


def _entries(folder: Path) -> Iterator[Path]:
    yield from folder.iterdir() if folder.is_dir() else ()
