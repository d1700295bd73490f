"""`insert`: new rows in one write; one insert makes one file group in each partition."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Row, Truth, written
from harness.scenario.operations.api import Example, Explicit, Key, Operation
from harness.scenario.operations.new_rows import explicit, fresh, rows_text, some, whole
from harness.scenario.operations.spark_sql import insert_rows


@dataclass(frozen=True, slots=True)
class Insert(Operation):
    """Insert rows with these keys, or explicit ones."""

    EXAMPLES = (
        Example(
            "insert: [5, 6]", "adds new rows; one insert makes one file group in each partition"
        ),
        Example(
            "insert: {keys: [5], rows: [{id: 6, f1: x, s: {a: y, b: 1}}]}",
            "the same with values of your own",
        ),
    )
    SHORT = "keys"
    keys: tuple[Key, ...] = ()
    rows: tuple[Explicit, ...] = ()

    def text(self) -> str:
        return f"insert {rows_text(len(self.keys) + len(self.rows))}"

    def evolve(self, before: Truth) -> Truth:
        """Add the rows; none of the keys may be there."""
        return written(before, before.step + 1, self._new(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (insert_rows(after, self._new(before)),)

    def _new(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.rows), "insert")
        rows = (*whole(before, fresh(before, self.keys)), *explicit(before, self.rows))
        fresh(before, [row.key for row in rows])
        return rows
