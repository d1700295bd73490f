"""`restore`: the table goes back to its newest savepoint: rows, base files, and the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth
from harness.model.undo import restored


@dataclass(frozen=True, slots=True)
class Restore:
    """Take back everything since the newest savepoint."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "restore the savepoint"

    def evolve(self, before: Truth) -> Truth:
        """Return the table as it was at the savepoint; field ids are not given again."""
        return restored(before, before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
