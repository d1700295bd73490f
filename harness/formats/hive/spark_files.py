"""The data files that Spark leaves in the folder of a plain table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness.formats.api import FileFactError

_DATA: Final = re.compile(r"part-\d+-(?P<job>[0-9a-f-]{36})[.-].*")
"""Spark names data files by the partition of its job, and a random name of the job itself."""
_BESIDE: Final = re.compile(r"[._].*")


def found(folder: Path) -> list[Path]:
    """Return the data files in a folder and below it, without what lies beside them."""
    if not folder.is_dir():
        return []
    every = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in every if not _BESIDE.fullmatch(path.name)]


def job(path: Path) -> str:
    """Return the name of the job that wrote a file.

    Raises:
        FileFactError: no job of Spark names a file so.

    """
    match = _DATA.fullmatch(path.name)
    if match is None:
        raise FileFactError(f"{path.name}: not a data file of Spark by its name")
    return match["job"]
