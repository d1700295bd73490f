"""Addresses on a page that lies in a folder: of a cell, and of a cause."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def cell_address(page: Path, case: str) -> str:
    """Return the address of a cell, as the page's own links and scripts have it.

    >>> cell_address(Path("/runs/a b/report.html"), "hudi/move[hudi-cow]/s1/snapshot/all/trino-476")
    'file:///runs/a%20b/report.html#hudi%2Fmove%5Bhudi-cow%5D%2Fs1%2Fsnapshot%2Fall%2Ftrino-476'
    """
    return f"{page.absolute().as_uri()}#{quote(case, safe='')}"


def cause_address(page: Path, number: int) -> str:
    """Return the address of a cause, by its number from 1.

    >>> cause_address(Path("/runs/a/report.html"), 3)
    'file:///runs/a/report.html#cause-3'
    """
    return f"{page.absolute().as_uri()}#cause-{number}"
