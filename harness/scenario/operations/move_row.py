"""`move_row`: a new version of a row, in another partition; the old one is gone from its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, new_row, written
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.new_rows import known
from harness.scenario.operations.spark_sql import insert_rows


@dataclass(frozen=True, slots=True)
class MoveRow(Operation):
    """Write the row `key` anew, into the partition of the row `to`."""

    EXAMPLES = (
        Example(
            "move_row: {key: 1, to: 2}",
            "writes a row anew into the partition of another one, see [below](#rows-that-move)",
        ),
    )
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "has no index that could find a row in one partition alone"
    key: Key
    to: Key

    def text(self) -> str:
        return f"move row {self.key} to the partition of row {self.to}"

    def evolve(self, before: Truth) -> Truth:
        """Replace the row: there is one of each key."""
        return written(before, before.step + 1, (self._version(before),))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says that it finds the row in any partition."""
        return (insert_rows(after, (self._version(before),)),)

    def _version(self, before: Truth) -> Row:
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; use upsert")
        key, to = known(before, (self.key, self.to))
        old, other = before.rows[key].group, before.rows[to].group
        if old[1] == other[1]:
            raise SchemaChangeError(f"the rows {key} and {to} are in the same partition")
        step, row = before.step + 1, new_row(before, key, before.step + 1, {})
        ids = [before.column_id(name) for name in before.table.partition_by]
        return replace(
            row,
            values={**row.values, **dict(zip(ids, other[1], strict=True))},
            written={**row.written, **dict.fromkeys(ids, step)},
            group=(step, other[1]),
        )
