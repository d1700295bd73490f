"""`rollback_to_snapshot`: the rows are those after an earlier step again; the columns stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth
from harness.model.undo import rolled_back_to


@dataclass(frozen=True, slots=True)
class RollbackToSnapshot:
    """Make the snapshot of a step the current one again."""

    SHORT: ClassVar[str] = "step"
    CHANGES_SCHEMA: ClassVar[bool] = False
    step: int

    def text(self) -> str:
        """Say it in a few words."""
        return f"roll back to the snapshot of step {self.step}"

    def evolve(self, before: Truth) -> Truth:
        """Return the rows of then under the columns of now (apache/iceberg#5591)."""
        return rolled_back_to(before, before.step + 1, self.step)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: the format has its own way."""
        return ()
