"""`move_column`: another position, the same field id."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import Example, Operation, position_of
from harness.scenario.operations.spark_sql import position, quoted, where


@dataclass(frozen=True, slots=True)
class MoveColumn(Operation):
    """Put the column `first` among its siblings, or `after` one of them."""

    EXAMPLES = (
        Example(
            "move_column: {name: f1, after: f2}",
            "moves a column, or with `first: true` to the front",
        ),
    )
    CHANGES_SCHEMA = True
    name: str
    first: bool = False
    after: str | None = None

    def text(self) -> str:
        return f"move column {self.name}{where(self.first, self.after)}"

    def evolve(self, before: Truth) -> Truth:
        if not self.first and self.after is None:
            raise SchemaChangeError("say where the column goes: 'first: true' or 'after: x'")
        schema = before.schema.move(self.name, position_of(self.first, self.after))
        return with_schema(before, before.step + 1, schema)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        place = position(self.first, self.after)
        return (f"alter table {{table}} alter column {quoted(self.name)}{place}",)
