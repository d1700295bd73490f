"""`add_column`: a new column, at the root or in a struct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import TypeText, place_of
from harness.scenario.operations.spark_sql import position, quoted, type_text, where


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a column at the end of its siblings, `first`, or `after` one of them."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    name: str
    type: TypeText
    first: bool = False
    after: str | None = None

    def text(self) -> str:
        """Say it in a few words."""
        return f"add column {self.name} {self.type}{where(self.first, self.after)}"

    def evolve(self, before: Truth) -> Truth:
        """Return the column the next field id; no row has a value for it yet."""
        place = place_of(self.first, self.after)
        schema = before.schema.add(self.name, self.type, place)
        return with_schema(before, before.step + 1, schema)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table`."""
        column = f"{quoted(self.name)} {type_text(self.type)}{position(self.first, self.after)}"
        return (f"alter table {{table}} add columns ({column})",)
