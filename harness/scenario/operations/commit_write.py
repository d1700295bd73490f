"""`commit_write`: the second writer, which waits, goes on and commits what it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.pending_write import committed
from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class CommitWrite:
    """Commit what `begin_write` began; where others wrote the same, the format may refuse it."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "the other writer commits"

    def evolve(self, before: Truth) -> Truth:
        """Have the rows of both writers."""
        return committed(before, before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: the statement was sent before."""
        return ()
