"""A cache that shares the engines of the usual one; table states and answers are its own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.artifacts import cache_mark
from harness.artifacts.cache import Cache

SHARED: Final = ("artifacts", "jre", "unpacked")


def with_engines(cache: Path) -> Path:
    """Make such a cache in a folder, or what is missing of it; give the folder."""
    cache_mark.claim(Cache(cache))
    for name in SHARED:
        with suppress(FileExistsError):
            (cache / name).symlink_to(Cache.default().root / name)
    return cache
