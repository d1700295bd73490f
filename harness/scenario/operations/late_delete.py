"""`late_delete`: deletes that are older, by the ordering column, than the rows that are there."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Row, Truth, late
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.late_rows import late_rows
from harness.scenario.operations.new_rows import rows_text
from harness.scenario.operations.spark_sql import columns_in_order, merge_into, select_rows


@dataclass(frozen=True, slots=True)
class LateDelete(Operation):
    """Delete these rows by a source that is older; the merge mode says whether they stay."""

    EXAMPLES = (
        Example("late_delete: [2]", "deletes rows by a source that is older than they are"),
    )
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "orders no versions of a row: the last write stands, late or not"
    SHORT = "keys"
    keys: tuple[Key, ...]

    def text(self) -> str:
        return f"late delete of {rows_text(len(self.keys))}"

    def evolve(self, before: Truth) -> Truth:
        """Take the rows away where the last write stands."""
        return late(before, before.step + 1, {row.key: None for row in self._sources(before)})

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one merge statement: `delete from` has no ordering value, and deletes whatever is.

        Under event time a delete must not win over a row with a greater ordering value
        (apache/hudi#17372, #19978).
        """
        source = select_rows(self._sources(before), columns_in_order(after))
        merge, _ = merge_into("{table}", source, after)
        return (f"{merge} when matched then delete",)

    def _sources(self, before: Truth) -> tuple[Row, ...]:
        return late_rows(before, self.keys, "late_delete", before.rows)
