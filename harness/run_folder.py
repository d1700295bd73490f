"""A run's folder: made, found, worked on by one harness at a time, and cleaned of what died."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from harness.errors import UsageProblem

RUNS: Final = Path("runs")
LATEST: Final = "latest"
LATEST_RUN: Final = RUNS / LATEST
ENGINES: Final = "engines"
"""Folder of a run in which servers keep configuration and logs."""
LOCK: Final = "run.lock"
PATIENCE_S: Final = 1.0
"""Who cleans up holds the lock of a run for milliseconds."""
TABLES: Final = "table-*"
"""Folders below `ENGINES` of tables while they are written."""


def make(folder: Path) -> None:
    """Make a run's folder, unless it is there.

    Raises:
        UsageProblem: there is something else, or nothing can be made there.

    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as wrong:
        raise UsageProblem(
            f"{folder} is no folder and cannot be made one: {wrong.strerror}; let --run-dir name "
            "another place"
        ) from wrong


def new_folder(runs: Path, profile: str, now: datetime.datetime) -> Path:
    """Make `runs/<id>/`; nothing points to it yet."""
    make(runs)
    name = f"{now:%Y%m%d-%H%M%S}-{profile}"
    number = 1
    while True:
        folder = runs / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:  # of another harness, which may have begun this very second
            number += 1
        else:
            return folder


def existing(folder: Path) -> Path:
    """Give the whole path of a run's folder.

    Raises:
        UsageProblem: it is not there, or no folder.

    """
    if not folder.exists():
        raise UsageProblem(f"there is no run at {folder}; make one with: harness run")
    if not folder.is_dir():
        raise UsageProblem(f"{folder} is no folder of a run; let --run-dir name one")
    return folder.resolve()


def point_latest(folder: Path) -> None:
    """Let `latest` beside a run point to it, at no time to nothing."""
    link = folder.with_name(f".{folder.name}.link")
    link.unlink(missing_ok=True)
    link.symlink_to(folder.name)
    link.replace(folder.with_name(LATEST))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Work on a run's folder alone; the lock of a harness that died is none.

    Raises:
        UsageProblem: another harness works on it.

    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=PATIENCE_S)
    except Timeout:
        raise UsageProblem(
            f"another harness works on {folder} now; wait for its end, or name another folder"
        ) from None
    try:
        yield
    finally:
        lock.release()


def clean_others(folder: Path) -> None:
    """Clean the runs beside one that are nobody's; those that a live harness works on stay."""
    for lock in folder.parent.glob(f"*/{LOCK}"):
        if lock.parent.name not in (folder.name, LATEST):
            # What cannot be locked is a live harness's (a time-out is an OSError), or not ours.
            with suppress(OSError), FileLock(lock, timeout=0):
                clean(lock.parent)


def clean(folder: Path) -> None:
    """Leave of servers only their logs, of tables being written and of half files nothing.

    Only for who holds the lock: what is there then was left by the dead.
    """
    for table in (folder / ENGINES).glob(TABLES):
        shutil.rmtree(table, ignore_errors=True)
    for path in (folder / ENGINES).glob("*/*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
    for part in folder.glob("*.part"):
        part.unlink(missing_ok=True)
