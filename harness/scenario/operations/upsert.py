"""`upsert`: whole rows, new or replacing the ones with the same key."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Row, Truth, written
from harness.scenario.operations.api import Example, Explicit, Family, Key, Operation
from harness.scenario.operations.new_rows import each_once, explicit, key_of, rows_text, some, whole
from harness.scenario.operations.spark_sql import insert_rows


@dataclass(frozen=True, slots=True)
class Upsert(Operation):
    """Write whole rows with these keys, or explicit ones."""

    EXAMPLES = (Example("upsert: [3, 5]", "writes whole rows, which are new or replace others"),)
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})
    SHORT = "keys"
    keys: tuple[Key, ...] = ()
    rows: tuple[Explicit, ...] = ()

    def text(self) -> str:
        return f"upsert {rows_text(len(self.keys) + len(self.rows))}"

    def evolve(self, before: Truth) -> Truth:
        return written(before, before.step + 1, self._versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says that it replaces rows of the same key."""
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.rows), "upsert")
        keys = [key_of(before, key) for key in self.keys]
        rows = (*whole(before, keys), *explicit(before, self.rows))
        each_once([row.key for row in rows])
        return rows
