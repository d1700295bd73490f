"""What the cache holds, and removing what can be made again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.runtimes.cache import Cache, remove

STATES: Final = "states"
ANSWERS: Final = "answers"

_STATE: Final = re.compile(r"[0-9a-f]{64}(\.changed-\d+)?")


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


def prune(cache: Cache, before: float) -> tuple[Kept, Kept]:
    """Remove the table states and answers made before a time (seconds since 1970).

    Both are made again by the next run that needs them; give what was removed.
    """
    states = [p for p in _entries(cache.root / STATES) if _STATE.fullmatch(p.name)]
    old_states = [path for path in states if path.stat().st_mtime < before]
    folders = [path for path in _entries(cache.root / ANSWERS) if path.is_dir()]
    answers = [path for folder in folders for path in _entries(folder)]
    old_answers = [path for path in answers if path.stat().st_mtime < before]
    size = sum(_kept(path, set()).size for path in old_states)
    removed = Kept(STATES, len(old_states), size)
    removed_too = Kept(ANSWERS, len(old_answers), sum(p.stat().st_size for p in old_answers))
    for state in old_states:
        with cache.lock(state):
            remove(state)
    for answer in old_answers:
        answer.unlink(missing_ok=True)
    return removed, removed_too


def _kept(folder: Path, seen: set[tuple[int, int]]) -> Kept:
    files = size = 0
    for name, _, inside in os.walk(folder):
        for each in inside:
            stat = Path(name, each).lstat()
            files += 1
            size += 0 if (stat.st_dev, stat.st_ino) in seen else stat.st_size
            seen.add((stat.st_dev, stat.st_ino))
    return Kept(folder.name, files, size)


def _entries(folder: Path) -> Iterator[Path]:
    yield from folder.iterdir() if folder.is_dir() else ()
