"""What data files say of themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pydantic import Field


class FileKind(StrEnum):
    BASE = "base"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class FileFact:
    """What one data file says of itself. A log file has one fact for each of its data blocks."""

    path: str
    """Relative to the table's folder."""
    kind: FileKind
    file_group: str
    """Hudi's file id; a format without file groups gives the path."""
    instant: str
    """Of the commit that wrote it: from the file's name, or the log block's header."""
    columns: tuple[tuple[str, str], ...]
    """Name and type as the file names it, in the file's order, meta columns included."""
    keys: tuple[str, ...] = ()
    """Text of the record keys in it."""
    deleted: tuple[str, ...] = ()
    """Text of the record keys that a delete block takes away."""
    stored_names: tuple[str, ...] = ()
    """What the file itself calls each of the columns, where that is no name of the table's: Delta
    with column mapping. Else none, and the columns have the file's own names."""
    nameless: Annotated[bool, Field(exclude_if=lambda told: not told)] = False
    """Whether it says nothing of its columns, which are those of the table when it was written."""
    lost_names: Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)] = field(
        default=(), compare=False
    )
    """Its columns, and parts of structs, to which the table's own records lead no reader, or to
    another column. Later steps may change it of one and the same file."""
    misled_names: Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)] = field(
        default=(), compare=False
    )
    """Those of them that lead to another column."""
