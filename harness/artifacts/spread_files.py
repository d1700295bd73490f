"""Files of a folder that has many: they lie in folders by the first digits of their names."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from uuid import uuid4

from harness.core.atomic_write import atomic_write

PARTS: Final = "parts"
"""Folder of files that are being written; what is old in it was left by the dead."""


def place(folder: Path, name: str) -> Path:
    """Return where the file of a name is, or would be."""
    return folder / name[:2] / name


def write(folder: Path, name: str, content: bytes) -> None:
    """Write a file, complete or not at all."""
    path = place(folder, name)
    # A name of its own: several harnesses may write the same at the same time.
    part = folder / PARTS / f"{uuid4().hex}{path.suffix}"
    for parent in (path.parent, part.parent):
        parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, part):
        part.write_bytes(content)
