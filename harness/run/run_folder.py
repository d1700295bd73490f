"""A run's folder: made, found, worked on by one harness at a time, and cleaned of what died."""

import datetime
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.run.load_run import INFO

RUNS: Final = Path("runs")
LATEST: Final = "latest"
"""Link to the newest run that has something to show: an answer, or its end."""
LATEST_RUN: Final = RUNS / LATEST
BEGUN: Final = "begun"
"""Link to the run begun last."""
ENGINES: Final = "engines"
"""Folder of a run in which servers keep configuration and logs."""
LOCK: Final = "run.lock"
PYTEST: Final = "pytest"
"""Folder of a run that pytest started: what was asked for, what was said."""
BEFORE: Final = frozenset({LOCK, f"{INFO}.part", PYTEST})
"""What is in the folder of a run whose plan is not written down yet."""
PATIENCE_S: Final = 1.0
"""Who cleans up holds the lock of a run for milliseconds."""
TABLES: Final = "table-*"
"""Folders below `ENGINES` of tables while they are written."""


def run_exists(folder: Path) -> UsageProblem:
    """Return the problem that a new run would write over another one."""
    return UsageProblem(
        f"there is a run at {folder} already; go on with it by harness run --resume or "
        "harness read, or name another folder"
    )


def _not_a_folder(folder: Path) -> UsageProblem:
    return UsageProblem(f"{folder} is not a folder; let --run-dir name one")


def make(folder: Path) -> None:
    """Make a run's folder, unless it is there.

    Raises UsageProblem: there is something else, or nothing can be made there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as wrong:
        raise UsageProblem(
            f"the folder {folder} cannot be made: {wrong.strerror}; let --run-dir name another one"
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


def check_new(folder: Path) -> None:
    """Check that a run can begin in a folder, for it removes what has the name of its half files.

    What a run that was killed left before its plan was written down is nothing.

    Raises UsageProblem: there is a run, or something that is not of a run.
    """
    if (folder / INFO).exists():
        raise run_exists(folder)
    if folder.exists() and not folder.is_dir():
        raise _not_a_folder(folder)
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if strange := sorted(names - BEFORE):
        raise UsageProblem(
            f"{folder} is not a run and not empty: it holds {strange[0]!r}; name a folder "
            "that does not exist yet, or an empty one"
        )


def existing(folder: Path) -> Path:
    """Return the whole path of a run's folder; UsageProblem: it is not there, or not a folder."""
    if not folder.exists():
        raise UsageProblem(f"there is no run at {folder}; make one with: harness run")
    if not folder.is_dir():
        raise _not_a_folder(folder)
    return folder.resolve()


def point_begun(folder: Path) -> None:
    """Let `begun` beside a run point to it.

    Raises UsageProblem: somebody keeps something under one of the names that are links.
    """
    for name in (BEGUN, LATEST):
        link = folder.with_name(name)
        if link.exists() and not link.is_symlink():
            raise UsageProblem(f"{link} is not a link to a run; move it away, or use --run-dir")
    _point(folder, BEGUN)


def show(folder: Path) -> None:
    """Let `latest` beside a run point to it once it has something to show.

    Of a run that is not the one begun last nothing changes.
    """
    begun, latest = folder.with_name(BEGUN), folder.with_name(LATEST)
    if _points(begun, folder) and not _points(latest, folder):
        _point(folder, LATEST)


def to_resume() -> Path:
    """Return the run begun last, whether it has come to anything or not."""
    begun = RUNS / BEGUN
    return begun if begun.exists() else LATEST_RUN


def passed_over() -> str:
    """Return which run was begun after the latest and has nothing to show; empty where none was."""
    begun, latest = RUNS / BEGUN, LATEST_RUN
    if not begun.exists() or (latest.exists() and latest.samefile(begun)):
        return ""
    message = (
        f"{begun.resolve().name} was begun last and has nothing to show: it failed, or has no "
        "answer yet; harness run --resume goes on with it"
    )
    return f"{message}. This is about {latest.resolve().name}" if latest.exists() else message


def _points(link: Path, folder: Path) -> bool:
    return link.is_symlink() and link.readlink() == Path(folder.name)


def _point(folder: Path, name: str) -> None:
    """Let a link point to a run, at no time to nothing."""
    with atomic_write(folder.with_name(name)) as link:
        link.symlink_to(folder.name)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Work on a run's folder alone; the lock of a harness that died is none.

    Raises UsageProblem: another harness works on it.
    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=PATIENCE_S)
    except Timeout:
        message = f"another harness works on {folder} now; wait until it ends"
        raise UsageProblem(f"{message}, or name another folder") from None
    try:
        yield
    finally:
        lock.release()


def clean_others(folder: Path) -> None:
    """Clean the runs beside one that are nobody's; those that a live harness works on stay.

    A run has its plan beside its lock. A folder with such a lock may be anybody's.
    """
    for lock in folder.parent.glob(f"*/{LOCK}"):
        beside = lock.parent
        run = (beside / INFO).is_file() and not beside.is_symlink()
        if run and beside.name != folder.name:
            # What cannot be locked is a live harness's (a time-out is an OSError), or not ours.
            with suppress(OSError), FileLock(lock, timeout=0):
                clean(beside)


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
