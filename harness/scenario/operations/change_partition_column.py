"""`change_partition_column`: what the source document says that no table of Hudi may do to one.

Source: digest A1. Seen: Hudi 0.15.0, 1.0.2 and 1.2.0 refuse to rename and to drop one, and let it
move and have another type. Delta renames one of a table with column mapping (Delta transaction log
protocol, "Column Mapping": partition values stand under physical names).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import Example, Family, Operation, TypeText
from harness.scenario.operations.change_type import ChangeType
from harness.scenario.operations.drop_column import DropColumn
from harness.scenario.operations.move_column import MoveColumn
from harness.scenario.operations.rename_column import RenameColumn


@dataclass(frozen=True, slots=True)
class ChangePartitionColumn(Operation):
    """Rename, drop, move or retype a partition column, which the writer should refuse.

    Where it does not, a renamed, moved or retyped one is like any other. For a dropped one the
    truth is the table of before, for nothing says what becomes of the partitions.
    """

    EXAMPLES = (
        Example(
            "change_partition_column: {column: p, rename: q}",
            "renames (`rename: q`), drops (`drop: true`), moves (`after: x`) or "
            "retypes (`to: long`) a partition column, which Hudi should refuse. A "
            "renamed, moved or retyped one is like any other where it does not: it "
            "lets one move and have another type, and Delta renames one",
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    CHANGES_SCHEMA = True
    column: str
    rename: str | None = None
    drop: bool = False
    after: str | None = None
    to: TypeText | None = None

    def text(self) -> str:
        return f"{self._change().text()}, a partition column"

    def evolve(self, before: Truth) -> Truth:
        """Keep every value.

        Raises:
            SchemaChangeError: it is no partition column, or not one change is said.

        """
        if self.column not in before.table.partition_by:
            have = ", ".join(before.table.partition_by) or "none"
            raise SchemaChangeError(f"'{self.column}' is no partition column; there are: {have}")
        change = self._change()
        if isinstance(change, DropColumn):
            return with_schema(before, before.step + 1, before.schema)
        after = change.evolve(before)
        return self._renamed(after) if isinstance(change, RenameColumn) else after

    def _renamed(self, after: Truth) -> Truth:
        """Return the table that is partitioned by the column under its new name."""
        by = (self.rename if text == self.column else text for text in after.table.partition_by)
        named = tuple(text for text in by if text is not None)
        return replace(after, table=replace(after.table, partition_by=named))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the `alter table` of the change."""
        return self._change().sql(before, after)

    def _change(self) -> RenameColumn | DropColumn | MoveColumn | ChangeType:
        found: list[RenameColumn | DropColumn | MoveColumn | ChangeType] = []
        if self.rename is not None:
            found.append(RenameColumn(self.column, self.rename))
        if self.drop:
            found.append(DropColumn(self.column))
        if self.after is not None:
            found.append(MoveColumn(self.column, after=self.after))
        if self.to is not None:
            found.append(ChangeType(self.column, self.to))
        if len(found) != 1:
            raise SchemaChangeError("say one change: 'rename', 'drop: true', 'after' or 'to'")
        return found[0]
