"""`rollback`: the last write, or schema change, is taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth
from harness.model.undo import rolled_back


@dataclass(frozen=True, slots=True)
class Rollback:
    """Take back the last write that stands, or the last schema change."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "roll back the last write"

    def evolve(self, before: Truth) -> Truth:
        """Return the table as it was before that; field ids are not given again."""
        return rolled_back(before, before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
