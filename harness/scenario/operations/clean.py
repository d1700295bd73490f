"""`clean`: files that no reader of today needs are removed; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class Clean:
    """Keep the newest version of each file group alone: earlier tables cannot be gone back to."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "clean old files away"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything but the files of the past."""
        return replace(before, step=before.step + 1, oldest=before.step)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
