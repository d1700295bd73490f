"""`overwrite`: rows in the place of all that are there, or of those of one partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from pydantic import Strict

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, replaced
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.new_rows import each_once, key_of, rows_text, some, whole
from harness.scenario.operations.spark_sql import columns_in_order, partition_spec, select_rows


class OverwriteScope(StrEnum):
    """How much of a table is overwritten."""

    TABLE = "table"
    PARTITION = "partition"
    """The one that all of the new rows are in."""


@dataclass(frozen=True, slots=True)
class Overwrite(Operation):
    """Write whole rows with these keys, and let nothing else be `of` the table or the partition."""

    EXAMPLES = (
        Example("overwrite: [5, 6]", "puts rows in the place of all that there are"),
        Example(
            "overwrite: {keys: [5], of: partition}",
            "the same in the one partition that the new rows are in",
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})
    SHORT = "keys"
    keys: tuple[Key, ...]
    of: Annotated[OverwriteScope, Strict(strict=False)] = OverwriteScope.TABLE

    def text(self) -> str:
        return f"overwrite the {self.of.value} with {rows_text(len(self.keys))}"

    def evolve(self, before: Truth) -> Truth:
        """Put the rows, in file groups of their own, in the place of those that are there."""
        rows = self._rows(before)
        only = self._partition(before, rows) if self.of is OverwriteScope.PARTITION else None
        return replaced(before, before.step + 1, lambda row: only in {None, row.group[1]}, rows)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; a partition's own columns are in its specification."""
        rows, fields = self._rows(before), columns_in_order(after)
        where = ""
        if self.of is OverwriteScope.PARTITION:
            where = f" {partition_spec(after, self._partition(before, rows))}"
            fields = tuple(field for field in fields if field.name not in after.table.partition_by)
        return (f"insert overwrite table {{table}}{where} {select_rows(rows, fields)}",)

    def _rows(self, before: Truth) -> tuple[Row, ...]:
        keys = [key_of(before, key) for key in some(self.keys, "overwrite")]
        each_once(keys)
        step = before.step + 1
        return tuple(replace(row, group=(step, row.group[1])) for row in whole(before, keys))

    def _partition(self, before: Truth, rows: Iterable[Row]) -> tuple[Value, ...]:
        found = {row.group[1] for row in rows}
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; overwrite all of it: of: table")
        if len(found) > 1:
            raise SchemaChangeError("the rows are of several partitions; give those of one")
        return found.pop()
