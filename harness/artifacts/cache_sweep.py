"""Remove from the cache what a harness that died was making.

Whatever is made in the cache is made under the lock of its path (`Cache.lock`), which ends with its
holder: a folder whose lock can be had is nobody's. Broken transfers (`.part` of an artifact) stay:
the next one goes on from there.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from filelock import Timeout

from harness.artifacts import table_homes
from harness.artifacts.cache import MAKING, Cache, remove

MADE_IN: Final = ("", "archives", "jre", "states", "unpacked")
"""Folders of the cache in which things are made beside their place; a parcel's is its own."""
JAVAS: Final = ".temp"
"""What Java puts to the name of an archive of classes as long as it writes it (`jcmd`)."""
PARTS: Final = "answers/parts/*"
OLD_S: Final = 600.0
"""An answer is written within milliseconds; a part that old is nobody's."""


def sweep(cache: Cache) -> tuple[Path, ...]:
    """Remove what the dead left, and nothing that a live harness uses; give what was removed."""
    making = (path for name in MADE_IN for path in (cache.root / name).glob(f"{MAKING}*"))
    parts = (path for path in cache.root.glob(PARTS) if _is_old(path))
    gone = [path for path in making if _removed(path, cache)]
    gone += table_homes.sweep(cache)
    for part in parts:
        part.unlink(missing_ok=True)
        gone.append(part)
    return tuple(gone)


def _removed(made: Path, cache: Cache) -> bool:
    place = made.name.removeprefix(MAKING).removesuffix(JAVAS)
    try:
        with cache.lock(made.with_name(place)).acquire(timeout=0):
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
