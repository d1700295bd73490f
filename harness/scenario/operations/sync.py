"""`sync`: the metastore is told the columns that the table has; the table stays as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class Sync:
    """Bring the metastore up to a table whose columns were changed without telling it."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "sync the metastore"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: the truth is the table's."""
        return replace(before, step=before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
