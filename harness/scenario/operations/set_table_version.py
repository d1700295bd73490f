"""`set_table_version`: the table's own records are brought to another version; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class SetTableVersion:
    """Upgrade or downgrade the table to a version, as the format counts."""

    SHORT: ClassVar[str] = "version"
    CHANGES_SCHEMA: ClassVar[bool] = False
    version: int

    def text(self) -> str:
        """Say it in a few words."""
        return f"set the table version to {self.version}"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything; where a format merges log files on the way, its files say so."""
        return replace(before, step=before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()
