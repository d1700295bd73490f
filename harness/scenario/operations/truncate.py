"""`truncate`: all rows go; the table and its columns stay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.model.truth import Truth, replaced
from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import TABLE_NAME
from harness.scenario.statements import Sql


@dataclass(frozen=True, slots=True)
class Truncate(Operation):
    """Empty the table."""

    EXAMPLES = (Example("truncate", "takes all rows away"),)
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})

    def text(self) -> str:
        return "truncate the table"

    def evolve(self, before: Truth) -> Truth:
        """Take every row away, from base files too; there is nothing to go back to then."""
        after = replaced(before, before.step + 1, lambda row: True)  # noqa: ARG005 - every one
        return replace(after, before_last=None, saved=None)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return ("truncate table {table}",)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.DELTA:
            return None
        # Delta has no other words for it (documentation, "Table deletes, updates, and merges").
        return (Sql(f"delete from {TABLE_NAME}"),)
