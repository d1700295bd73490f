"""Files and folders that are there whole, or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.core.errors import unwritable


@contextmanager
def atomic_write(path: Path, unfinished: Path | None = None) -> Iterator[Path]:
    """Yield where to write a file or folder; at the end of the block it takes the name `path`.

    If the block raises, what was there before stays. `unfinished`: another place to write to.
    """
    part = unfinished or path.with_name(f"{path.name}.part")
    try:
        _remove(part)  # of one that was broken off
        yield part
        part.replace(path)
    except OSError as error:
        other = error.filename if error.filename not in (None, part, str(part)) else path
        raise unwritable(error, other) from error
    finally:
        _remove(part)


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)


@contextmanager
def naming(path: os.PathLike[str]) -> Iterator[None]:
    """Add the name of a file to failures of the file system: those of writing have none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or os.fspath(path)
        raise
