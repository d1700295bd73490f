"""Remove what the cache keeps of engines: of those that are named, and of none that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from harness.artifacts import (
    cache_cleanup,
    cache_mark,
    distributions,
    jre,
    pyspark_home,
    python_home,
)
from harness.artifacts.cache import Cache
from harness.artifacts.cache_cleanup import FolderSize
from harness.core.errors import EnvironmentProblem

FOLDERS: Final = ("artifacts", "unpacked", "jre", "spark", python_home.FOLDER)
"""Where the files of engines are: downloads, server trees, Java, other versions of PySpark, and
packages of programs of Python."""


def prune(names: Sequence[str], cache: Cache) -> tuple[FolderSize, ...]:
    """Remove the files of distributions, but for those that others share; return what was removed.

    `names`: the distributions. Files of no known distribution go as well: their lock data have
    changed since they were fetched, or are gone.

    Raises:
        UsageProblem: the folder is no cache, or there is no such distribution.

    """
    cache_mark.check(cache)
    for name in names:
        distributions.load(name)
    others = (name for name in distributions.names() if name not in names)
    kept = {place for name in others for place in _places(name, cache)}
    return tuple(_pruned(cache, folder, kept) for folder in FOLDERS)


def _places(name: str, cache: Cache) -> Iterator[str]:
    """Yield the folders of a distribution's files, from the cache's own on."""
    found = distributions.load(name)
    key = distributions.tree_digest(found)
    folders = [cache.artifact(each).parent for each in found.artifacts]
    if key:
        folders.append(cache.tree(key))
    if spark := pyspark_home.wanted(found):
        folders.append(pyspark_home.folder(spark, cache))
    folders += python_home.places(found, cache)
    with suppress(EnvironmentProblem):  # none is known for this machine, so none is there
        folders += [jre.folder(found.jre, cache)] if found.jre else []
    yield from (str(each.relative_to(cache.root)) for each in folders)


def _pruned(cache: Cache, folder: str, kept: set[str]) -> FolderSize:
    there = cache_mark.named(cache.root / folder) if (cache.root / folder).is_dir() else ()
    gone = [each for each in there if str(each.relative_to(cache.root)) not in kept]
    return cache_cleanup.remove_all(gone, folder, cache)
