"""`truncate`: all rows go; the table and its columns stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth, replaced


@dataclass(frozen=True, slots=True)
class Truncate:
    """Empty the table."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "truncate the table"

    def evolve(self, before: Truth) -> Truth:
        """Take every row away, from base files too; there is nothing to go back to then."""
        after = replaced(before, before.step + 1, lambda row: True)  # noqa: ARG005 - every one
        return replace(after, before_last=None, saved=None)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one statement."""
        return ("truncate table {table}",)
