"""Homes: where tables lie whose files name each other by absolute paths.

Such a table is read where it was written, at `<cache>/tables/<id>`. While it is written a mark,
`.making-<id>`, lies beside it, and its writer holds the lock of its path: what has a mark and a
lock that can be had was left by the dead.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from filelock import FileLock, Timeout

from harness.artifacts.cache import MAKING, Cache, remove

TABLES: Final = "tables"


def folder(cache: Cache) -> Path:
    return cache.root / TABLES


@contextmanager
def new(cache: Cache) -> Iterator[Path]:
    """Yield a path for one table; unless its writing comes to an end, a sweep removes it."""
    home = folder(cache) / uuid4().hex
    with cache.lock(home):
        _mark(home).touch()
        yield home
        keep(home)


def keep(home: Path) -> None:
    with _moving(home):
        _mark(home).unlink(missing_ok=True)


def sweep(cache: Cache) -> Iterator[Path]:
    """Remove what the dead left, and nothing that is written or read; give what was removed."""
    for mark in sorted(folder(cache).glob(f"{MAKING}*")):
        # A folder was a home: a sweep that died had put it aside.
        left = mark if mark.is_dir() else _put_aside(cache, mark)
        if left is not None:
            remove(left)
            yield left


def _put_aside(cache: Cache, mark: Path) -> Path | None:
    """Take a home away at once: it may be brought home again while the old one is removed."""
    home = mark.with_name(mark.name.removeprefix(MAKING))
    aside = _mark(home.with_name(uuid4().hex))
    with suppress(Timeout), _moving(home), cache.lock(home).acquire(timeout=0):
        if mark.exists():
            with suppress(FileNotFoundError):  # its writer died before it wrote anything
                home.rename(aside)
            mark.unlink()
            return aside
    return None


def _mark(home: Path) -> Path:
    return home.with_name(f"{MAKING}{home.name}")


def _moving(home: Path) -> FileLock:
    return FileLock(home.parent.with_name(f"{home.parent.name}.lock"))
