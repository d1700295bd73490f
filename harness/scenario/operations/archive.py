"""`archive`: old commits leave the table's list of commits; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class Archive:
    """Move all but the newest commits to where no reader looks: files must be found without."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "archive old commits"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything but the list of what was done."""
        return replace(before, step=before.step + 1, oldest=before.step)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
