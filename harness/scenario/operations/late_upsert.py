"""`late_upsert`: whole rows that are older, by the ordering column, than those that are there."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Row, Truth, late
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.late_rows import late_rows
from harness.scenario.operations.new_rows import rows_text
from harness.scenario.operations.spark_sql import insert_rows


@dataclass(frozen=True, slots=True)
class LateUpsert(Operation):
    """Write older versions of the rows with these keys; the merge mode says which ones stand."""

    EXAMPLES = (
        Example(
            "late_upsert: [1]",
            "writes whole rows that are older than those that are there, see [late "
            "data](#late-data)",
        ),
    )
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "orders no versions of a row: the last write stands, late or not"
    SHORT = "keys"
    keys: tuple[Key, ...]

    def text(self) -> str:
        return f"late upsert of {rows_text(len(self.keys))}"

    def evolve(self, before: Truth) -> Truth:
        """Replace the rows where the last write stands; a deleted row is there again."""
        return late(before, before.step + 1, {row.key: row for row in self._versions(before)})

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says that it replaces rows of the same key."""
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        return late_rows(before, self.keys, "late_upsert", (*before.rows, *before.gone))
