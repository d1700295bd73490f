"""`rename_column`: another name, the same field id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.statements import of_table, under

_CASE: Final = "spark.sql.caseSensitive"
"""With `false`, its default, Spark takes a name in other letters' case for the same column's."""


@dataclass(frozen=True, slots=True)
class RenameColumn(Operation):
    """Call the column at a dotted path `to`, a bare name."""

    EXAMPLES = (
        Example(
            "rename_column: {name: f1, to: g}", "renames a column; `to` is a name without a path"
        ),
    )
    CHANGES_SCHEMA = True
    name: str
    to: str

    @property
    def new_path(self) -> str:
        """The dotted path that the column has then."""
        parent, dot, _ = self.name.rpartition(".")
        return f"{parent}{dot}{self.to}"

    def text(self) -> str:
        return f"rename column {self.name} to {self.to}"

    def evolve(self, before: Truth) -> Truth:
        """Keep the field id and every value."""
        return with_schema(before, before.step + 1, before.schema.rename(self.name, self.to))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (f"alter table {{table}} rename column {quoted(self.name)} to {quoted(self.to)}",)

    def statements(self, context: StepContext) -> Statements:
        only_case = self.name.casefold() == self.to.casefold()
        if context.kind.family is not Family.ICEBERG or not only_case:
            return None
        return under(_CASE, "true", "false", of_table(self.sql(context.before, context.after)))
