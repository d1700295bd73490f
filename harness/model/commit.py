"""A write on a table's timeline, as a question about the past names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

AS_OF: Final = "as_of"
"""The view of a table as it was after an earlier step."""
INCREMENTAL: Final = "incremental"
"""The view of what was written since an earlier step."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where on a table's timeline a question goes back to, in the words of the format."""

    instant: str
    """Of the write: Hudi's requested time, Iceberg's id of the snapshot."""
    completed: str = ""
    """When it was completed, where the format says so."""
    following: str = ""
    """When the next write was completed; empty where there is none."""


@dataclass(frozen=True, slots=True)
class ExtraMetadata:
    """What a write's own record has for its user: pairs of name and value, in no order."""

    stored: tuple[tuple[str, str], ...] = ()
    """In the file of the record."""
    shown: tuple[tuple[str, str], ...] = ()
    """By what the writer's own engine answers to who asks for it."""
    unshown: str = ""
    """Why that is not known; empty where it is."""
