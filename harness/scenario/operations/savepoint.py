"""`savepoint`: the last write is kept, so that the table can go back to it; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth
from harness.model.undo import saved


@dataclass(frozen=True, slots=True)
class Savepoint:
    """Make a savepoint of the last write, or schema change."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "make a savepoint"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything, and the table as it is now with it."""
        return saved(before, before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
