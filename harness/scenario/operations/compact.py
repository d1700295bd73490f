"""`compact`: log files are merged into new base files, or that is only scheduled; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import Strict

from harness.model.truth import Truth, compacted
from harness.scenario.operations.api import Only


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact every file group; on copy-on-write there is nothing to do.

    What is only scheduled waits: writes go on, and the next `compact` carries it out.
    """

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False
    only: Annotated[Only | None, Strict(strict=False)] = None

    def text(self) -> str:
        """Say it in a few words."""
        return "schedule a compaction" if self.only else "compact"

    def evolve(self, before: Truth) -> Truth:
        """Let read-optimized readers see what snapshot readers see, once it is carried out."""
        if self.only:
            return replace(before, step=before.step + 1)
        return compacted(before, before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
