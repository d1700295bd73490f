"""`update`: some columns of some rows, and of keys that no row has; the ordering column grows."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Row, Truth, changed_row, written
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.new_rows import (
    absent_text,
    fresh,
    known,
    rows_text,
    settable,
    some,
    whole,
)
from harness.scenario.operations.spark_sql import key_list, literal, quoted


@dataclass(frozen=True, slots=True)
class Update(Operation):
    """Give the columns `set` of the rows `keys` new values; an absent key stays so."""

    EXAMPLES = (
        Example(
            "update: {keys: [1], set: [f1]}", "writes some columns; the ordering column grows too"
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})
    keys: tuple[Key, ...] = ()
    set: tuple[str, ...] = ()
    absent: tuple[Key, ...] = ()

    def text(self) -> str:
        told = f"{rows_text(len(self.keys))}{absent_text(self.absent)}"
        return f"update {', '.join(self.set)} of {told}"

    def evolve(self, before: Truth) -> Truth:
        contested = {row.key: row for row in self._absent(before)}
        return written(before, before.step + 1, self._versions(before), contested=contested)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one update statement that picks each row's values by its key."""
        rows = (*self._versions(before), *self._absent(before))
        order = (after.table.order_by,) if after.table.order_by else ()
        sets = ", ".join(_choose(after, name, rows) for name in (*self.set, *order))
        keys = key_list(after, [row.key for row in rows])
        return (f"update {{table}} set {sets} where {quoted(after.table.key)} in {keys}",)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.absent), "update")
        keys = known(before, self.keys)
        columns = settable(before, some(self.set, "update"))
        return tuple(changed_row(before, key, before.step + 1, columns) for key in keys)

    def _absent(self, before: Truth) -> tuple[Row, ...]:
        return whole(before, fresh(before, self.absent))


def _choose(truth: Truth, name: str, rows: tuple[Row, ...]) -> str:
    field, key = truth.schema.find(name), truth.schema.find(truth.table.key)
    whens = " ".join(
        f"when {literal(row.key, key)} then {literal(row.of(field), field)}" for row in rows
    )
    return f"{quoted(name)} = case {quoted(key.name)} {whens} end"
