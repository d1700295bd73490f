"""`rename_column`: another name, the same field id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.spark_sql import quoted


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Call the column at a dotted path `to`, a bare name."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    name: str
    to: str

    @property
    def new_path(self) -> str:
        """The dotted path that the column has then."""
        parent, dot, _ = self.name.rpartition(".")
        return f"{parent}{dot}{self.to}"

    def text(self) -> str:
        """Say it in a few words."""
        return f"rename column {self.name} to {self.to}"

    def evolve(self, before: Truth) -> Truth:
        """Keep the field id and every value."""
        return with_schema(before, before.step + 1, before.schema.rename(self.name, self.to))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table`."""
        return (f"alter table {{table}} rename column {quoted(self.name)} to {quoted(self.to)}",)
