"""`delete`: rows by their keys, and keys that no row has."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth, written
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.new_rows import absent_text, fresh, known, rows_text, some
from harness.scenario.operations.spark_sql import key_list, quoted


@dataclass(frozen=True, slots=True)
class Delete(Operation):
    """Delete the rows with these keys; the statement names the absent keys as well."""

    EXAMPLES = (Example("delete: [2]", "deletes rows"),)
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})
    SHORT = "keys"
    keys: tuple[Key, ...] = ()
    absent: tuple[Key, ...] = ()

    def text(self) -> str:
        return f"delete {rows_text(len(self.keys))}{absent_text(self.absent)}"

    def evolve(self, before: Truth) -> Truth:
        some((*self.keys, *self.absent), "delete")
        fresh(before, self.absent)
        return written(before, before.step + 1, deleted=known(before, self.keys))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        keys = key_list(after, (*known(before, self.keys), *fresh(before, self.absent)))
        return (f"delete from {{table}} where {quoted(after.table.key)} in {keys}",)
