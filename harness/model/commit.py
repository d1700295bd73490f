"""A write on a table's timeline, as a question about the past names it."""

from dataclasses import dataclass
from typing import Final

AS_OF: Final = "as_of"
"""The view of a table as it was after an earlier step."""
INCREMENTAL: Final = "incremental"
"""The view of what was written since an earlier step."""
TAG: Final = "tag"
"""The view of a table as it was when an earlier step gave its snapshot a name."""
BRANCH: Final = "branch"
"""The view of a table as it is once a write that is staged in a branch is in it."""
NAMED: Final = frozenset({TAG, BRANCH})
"""The views that a question asks for by a name that a step gave."""
OTHERS: Final = (AS_OF, INCREMENTAL, TAG, BRANCH)
"""Every view of another table than the one of now."""


def ref_name(step: int) -> str:
    """Return what a tag or a branch is called that a step makes."""
    return f"step-{step}"


@dataclass(frozen=True, slots=True)
class Moment:
    """Where on a table's timeline a question goes back to, in the words of the format."""

    instant: str
    """Of the write: Hudi's requested time, Iceberg's id of the snapshot, or a name given to it."""
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
