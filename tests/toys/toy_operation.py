"""`stock`: rows with the next whole numbers as keys, so many of them."""

from dataclasses import dataclass

from harness.core.texts import counted
from harness.model.truth import Row, Truth, written
from harness.scenario.operations.api import Operation, example
from harness.scenario.operations.new_rows import fresh, whole
from harness.scenario.operations.spark_sql import insert_rows


@dataclass(frozen=True, slots=True)
class Stock(Operation):
    """Insert the next rows."""

    EXAMPLES = example("stock: 3", "inserts so many rows with the next whole numbers as keys")
    SHORT = "rows"
    rows: int

    def text(self) -> str:
        """Say it in a few words."""
        return f"stock {counted(self.rows, 'row')}"

    def evolve(self, before: Truth) -> Truth:
        """Add the rows."""
        return written(before, before.step + 1, self._new(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement."""
        return (insert_rows(after, self._new(before)),)

    def _new(self, before: Truth) -> tuple[Row, ...]:
        first = max(before.rows, default=0) + 1
        return whole(before, fresh(before, tuple(range(first, first + self.rows))))
