"""`compact`: log files are merged into new base files; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth, compacted


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact every file group; on copy-on-write there is nothing to do."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "compact"

    def evolve(self, before: Truth) -> Truth:
        """Let read-optimized readers see what snapshot readers see."""
        return compacted(before, before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
