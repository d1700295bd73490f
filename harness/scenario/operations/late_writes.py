"""Versions of rows that come late: their ordering value is less than any before."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, late, new_row
from harness.model.values import never_null
from harness.scenario.operations.api import Example, Family, Key, Operation, name_in_files
from harness.scenario.operations.new_rows import each_once, key_of, rows_text, some
from harness.scenario.operations.spark_sql import (
    columns_in_order,
    insert_rows,
    merge_into,
    select_rows,
)


def _late(before: Truth, key: Value) -> Row:
    """Return a version whose ordering value is that of a step before all others: of minus this."""
    order, step = before.schema.find(before.table.order_by or ""), before.step + 1
    row, types = before.generation.ordinals[key], before.generation.types
    value = never_null(order, -step, row, types)
    old = before.rows[key].values[order.id] if key in before.rows else None
    if old is not None and not value < old:
        raise SchemaChangeError(
            f"row {key}: the ordering column goes from {old} to {value}, which is not less; "
            f"let the harness make the row's '{order.name}'"
        )
    return new_row(before, key, step, {order.name: value})


@dataclass(frozen=True, slots=True)
class LateWrite(Operation):
    """Send versions of rows with a smaller ordering value than all before them.

    The table's merge mode says what becomes of them.
    """

    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "orders no versions of a row: the last write stands, late or not"
    keys: tuple[Key, ...]

    def text(self) -> str:
        return f"{name_in_files(type(self)).replace('_', ' ')} of {rows_text(len(self.keys))}"

    def _versions(self, before: Truth, there: Collection[Value]) -> tuple[Row, ...]:
        """Return the whole versions that are sent; `there`: the keys that may be named."""
        name = name_in_files(type(self))
        if before.table.order_by is None:
            wrong = f"{name} needs a table with an ordering column; give it order_by"
            raise SchemaChangeError(wrong)
        result = [key_of(before, key) for key in some(self.keys, name)]
        each_once(result)
        if never := [str(key) for key in result if key not in there]:
            have = ", ".join(map(str, there)) or "none"
            raise SchemaChangeError(f"no row has the key {', '.join(never)}; allowed: {have}")
        return tuple(_late(before, key) for key in result)


@dataclass(frozen=True, slots=True)
class LateUpsert(LateWrite):
    """Write older versions of the rows with these keys; a deleted row is there again."""

    EXAMPLES = (
        Example(
            "late_upsert: [1]",
            "writes whole rows that are older than those that are there, see [late "
            "data](#late-data)",
        ),
    )
    SHORT = "keys"

    def evolve(self, before: Truth) -> Truth:
        return late(before, before.step + 1, {row.key: row for row in self._rows(before)})

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (insert_rows(after, self._rows(before)),)

    def _rows(self, before: Truth) -> tuple[Row, ...]:
        return self._versions(before, (*before.rows, *before.gone))


@dataclass(frozen=True, slots=True)
class LateDelete(LateWrite):
    """Delete these rows by a source that is older; the merge mode says whether they stay."""

    EXAMPLES = (
        Example("late_delete: [2]", "deletes rows by a source that is older than they are"),
    )
    SHORT = "keys"

    def evolve(self, before: Truth) -> Truth:
        rows = self._versions(before, before.rows)
        return late(before, before.step + 1, {row.key: None for row in rows})

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one merge statement: `delete from` has no ordering value, and deletes whatever is.

        Under event time a delete must not win over a row with a greater ordering value
        (apache/hudi#17372, #19978).
        """
        source = select_rows(self._versions(before, before.rows), columns_in_order(after))
        merge, _ = merge_into("{table}", source, after)
        return (f"{merge} when matched then delete",)
