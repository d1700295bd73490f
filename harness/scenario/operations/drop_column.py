"""`drop_column`: a column goes, its field id with it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import Example, Operation
from harness.scenario.operations.spark_sql import quoted


@dataclass(frozen=True, slots=True)
class DropColumn(Operation):
    """Drop the column at a dotted path."""

    EXAMPLES = (Example("drop_column: f2", "drops a column"),)
    SHORT = "name"
    CHANGES_SCHEMA = True
    name: str

    def text(self) -> str:
        return f"drop column {self.name}"

    def evolve(self, before: Truth) -> Truth:
        """End the field id; an added column of the same name gets another."""
        return with_schema(before, before.step + 1, before.schema.drop(self.name))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (f"alter table {{table}} drop column {quoted(self.name)}",)
