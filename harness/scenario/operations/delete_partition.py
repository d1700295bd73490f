"""`delete_partition`: all rows of the partition that a row is in."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.schema import SchemaChangeError
from harness.model.truth import Group, Truth, replaced
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.new_rows import known
from harness.scenario.operations.spark_sql import partition_spec


@dataclass(frozen=True, slots=True)
class DeletePartition(Operation):
    """Drop the partition in which the row with this key is, with all its rows."""

    EXAMPLES = (Example("delete_partition: 3", "drops the partition of the row with that key"),)
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "has no partitions to drop; a delete says which rows go"
    SHORT = "of"
    of: Key

    def text(self) -> str:
        return f"delete the partition of row {self.of}"

    def evolve(self, before: Truth) -> Truth:
        """Take the rows away, from base files too."""
        _, partition = self._group(before)
        return replaced(before, before.step + 1, lambda row: row.group[1] == partition)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        _, partition = self._group(before)
        return (f"alter table {{table}} drop {partition_spec(after, partition)}",)

    def _group(self, before: Truth) -> Group:
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; use delete or truncate")
        (key,) = known(before, (self.of,))
        return before.rows[key].group
