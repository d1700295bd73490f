"""`rewrite_position_deletes`: position delete files are written anew; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class RewritePositionDeletes:
    """Write the positions of deleted rows into new files, without those that name no live file."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "rewrite the position deletes"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything."""
        return replace(before, step=before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: the format has its own way."""
        return ()
