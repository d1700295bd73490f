"""What the cache holds, and removing what is old or what a harness that died was making.

What is made is made under the lock of its path (`Cache.lock`): a folder whose lock can be had is
nobody's. Broken transfers (`.part`) stay: the next one goes on from there.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import Timeout

from harness.artifacts import distributions, python_index, table_homes
from harness.artifacts.cache import MAKING, SPREAD, UNFINISHED, Cache, named, remove

MADE_AGAIN: Final = ("states", table_homes.TABLES, "answers", "results", "archives")
"""Folders whose content the next run that needs it makes again. Archives are of classes, what
servers start with; another file for each version of the jars."""
ENGINE_FOLDERS: Final = ("artifacts", "unpacked", "jre", "spark", python_index.PACKAGES)
"""Where the files of engines are: downloads, server trees, Java, other versions of PySpark, and
packages of programs of Python."""
MADE_IN: Final = ("", "archives", "jre", "python", "spark", "states", "unpacked")
"""Folders of the cache in which things are made beside their place."""
JAVAS: Final = ".temp"
"""What Java puts to the name of an archive of classes as long as it writes it (`jcmd`)."""
PARTS: Final = tuple(f"{name}/{UNFINISHED}/*" for name in SPREAD)
OLD_S: Final = 600.0
"""What lies there is written within milliseconds; a part that old is nobody's."""


@dataclass(frozen=True, slots=True)
class FolderSize:
    """A folder of the cache: how many files it holds, and their bytes on disk."""

    name: str
    files: int
    size: int


def sizes(cache: Cache) -> tuple[FolderSize, ...]:
    """Return the size of every folder of the cache; a file with several names counts once."""
    seen: set[tuple[int, int]] = set()
    folders = sorted(cache.root.glob("*/"))
    return tuple(FolderSize(folder.name, *_measured(folder, seen)) for folder in folders)


def _remove_all(paths: Sequence[Path], folder: str, cache: Cache) -> FolderSize:
    """Remove what stands in a folder of the cache, each under its lock; return what it was."""
    size = sum(_measured(path, set())[1] for path in paths)
    for path in paths:
        if path.is_dir():
            with cache.lock(path):
                remove(path)
        else:
            path.unlink()
    return FolderSize(folder, len(paths), size)


def prune(cache: Cache, before: float) -> tuple[FolderSize, ...]:
    """Remove what can be made again and was made before a time (s since 1970); return it."""
    cache.check()
    return _pruned(cache, MADE_AGAIN, lambda path: path.stat().st_mtime < before)


def prune_to(cache: Cache, size: int) -> tuple[FolderSize, ...]:
    """Remove what can be made again, the oldest first, until the cache has `size` bytes or less.

    Engines stay: `prune_engines` removes those. Return what was removed.
    """
    cache.check()
    too_much = sum(entry.size for entry in sizes(cache)) - size
    there = [
        (path.stat().st_mtime, _measured(path, set())[1], name, path)
        for name in MADE_AGAIN
        for path in named(cache.root / name)
    ]
    removed: dict[str, list[Path]] = {name: [] for name in MADE_AGAIN}
    for _, bytes_, name, path in sorted(there):
        if too_much <= 0:
            break
        removed[name].append(path)
        too_much -= bytes_
    return tuple(_remove_all(paths, name, cache) for name, paths in removed.items())


def sweep(cache: Cache) -> tuple[Path, ...]:
    """Remove what the dead left, and nothing that a live harness uses; return what was removed."""
    making = (path for name in MADE_IN for path in (cache.root / name).glob(f"{MAKING}*"))
    there = (path for parts in PARTS for path in cache.root.glob(parts))
    parts = [path for path in there if _is_old(path)]
    for part in parts:
        part.unlink(missing_ok=True)
    unfinished = [path for path in making if _swept(path, cache)]
    return (*unfinished, *table_homes.sweep(cache), *parts)


def _pruned(
    cache: Cache, folders: Sequence[str], unneeded: Callable[[Path], bool]
) -> tuple[FolderSize, ...]:
    return tuple(
        _remove_all(list(filter(unneeded, named(cache.root / name))), name, cache)
        for name in folders
    )


def _measured(root: Path, seen: set[tuple[int, int]]) -> tuple[int, int]:
    """Return how many files there are, and the bytes of those that were not seen before."""
    files = size = 0
    for path in _files(root):
        stat = path.lstat()
        files += 1
        size += 0 if (stat.st_dev, stat.st_ino) in seen else stat.st_size
        seen.add((stat.st_dev, stat.st_ino))
    return files, size


def _files(root: Path) -> Iterable[Path]:
    walked = os.walk(root)
    inside: Iterator[Path] = (Path(folder, name) for folder, _, names in walked for name in names)
    return inside if root.is_dir() else (root,)


def _swept(made: Path, cache: Cache) -> bool:
    path = made.name.removeprefix(MAKING).removesuffix(JAVAS)
    try:
        with cache.lock(made.with_name(path)).acquire(timeout=0):
            remove(made)
            made.unlink(missing_ok=True)  # where it is a file
    except Timeout:
        return False
    return True


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > OLD_S
    except FileNotFoundError:
        return False


def prune_engines(names: Sequence[str], cache: Cache) -> tuple[FolderSize, ...]:
    """Remove files that no other distribution has, also those of no known one; return them."""
    cache.check()
    for name in names:
        distributions.load(name)
    others = (name for name in distributions.names() if name not in names)
    needed = {path for name in others for path in _engine_paths(name, cache)}
    return _pruned(cache, ENGINE_FOLDERS, lambda path: path not in needed)


def _engine_paths(name: str, cache: Cache) -> Iterator[Path]:
    """Yield the files of a distribution, or the folders that they are in."""
    distribution = distributions.load(name)
    yield from (cache.artifact(artifact).parent for artifact in distribution.artifacts)
    if key := distributions.tree_digest(distribution):
        yield cache.tree(key)
    # Of what is not known for this machine nothing is there.
    for home in python_index.homes(distribution) if python_index.fits(distribution) else ():
        yield home.folder(cache)
        yield from (file.brought(cache) for file in home.files)
