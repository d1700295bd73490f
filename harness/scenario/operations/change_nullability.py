"""`change_nullability`: whether a column may have NULL; its values stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.statements import IcebergCall


@dataclass(frozen=True, slots=True)
class ChangeNullability(Operation):
    """Let a column have NULL, or forbid it. Every column may have it when a table is created.

    No rule of the truth's follows from it: a write that breaks it is refused, and shows in what was
    applied.
    """

    EXAMPLES = (
        Example(
            "change_nullability: {name: f1, nullable: false}",
            "forbids NULL in a column, or with `true` allows it; every column may have "
            "NULL at first",
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})
    CHANGES_SCHEMA = True
    name: str
    nullable: bool

    def text(self) -> str:
        return f"{'allow' if self.nullable else 'forbid'} NULL in column {self.name}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every column and value."""
        own = {before.schema.find(self.name).id}
        required = before.required - own if self.nullable else before.required | own
        return replace(with_schema(before, before.step + 1, before.schema), required=required)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        change = "drop" if self.nullable else "set"
        return (f"alter table {{table}} alter column {quoted(self.name)} {change} not null",)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.ICEBERG or self.nullable:
            return None
        # Spark refuses it: "Cannot change nullable column to non-nullable".
        return (IcebergCall("require_column", {"name": self.name}),)
