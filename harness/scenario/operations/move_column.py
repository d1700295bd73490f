"""`move_column`: another position, the same field id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import place_of
from harness.scenario.operations.spark_sql import position, quoted, where


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """Put the column `first` among its siblings, or `after` one of them."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    name: str
    first: bool = False
    after: str | None = None

    def text(self) -> str:
        """Say it in a few words."""
        return f"move column {self.name}{where(self.first, self.after)}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every value."""
        if not self.first and self.after is None:
            raise SchemaChangeError("say where the column goes: 'first: true' or 'after: x'")
        schema = before.schema.move(self.name, place_of(self.first, self.after))
        return with_schema(before, before.step + 1, schema)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table`."""
        place = position(self.first, self.after)
        return (f"alter table {{table}} alter column {quoted(self.name)}{place}",)
