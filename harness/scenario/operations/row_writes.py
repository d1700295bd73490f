"""Writes of rows by one statement of Spark SQL, whatever the rows were before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Strict

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Group, Row, Truth, changed_row, new_row, replaced, written
from harness.scenario.operations.api import (
    WITH_DELETES,
    Example,
    Explicit,
    Family,
    Key,
    Operation,
    Statements,
    StepContext,
    name_in_files,
)
from harness.scenario.operations.new_rows import (
    absent_text,
    each_once,
    explicit,
    fresh,
    key_of,
    known,
    rows_text,
    settable,
    some,
    whole,
)
from harness.scenario.operations.spark_sql import (
    columns_in_order,
    insert_rows,
    key_list,
    literal,
    partition_spec,
    quoted,
    select_rows,
)
from harness.scenario.statements import LOCATION, TABLE_NAME, Sql, call_iceberg


@dataclass(frozen=True, slots=True)
class RowWrite(Operation):
    """A write of whole rows by one insert statement, as the format understands it."""

    def versions(self, before: Truth) -> tuple[Row, ...]:
        raise NotImplementedError

    def evolve(self, before: Truth) -> Truth:
        return written(before, before.step + 1, self.versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (insert_rows(after, self.versions(before)),)


@dataclass(frozen=True, slots=True)
class WholeRows(RowWrite):
    """Rows with these keys, or explicit ones."""

    keys: tuple[Key, ...] = ()
    rows: tuple[Explicit, ...] = ()

    def text(self) -> str:
        return f"{name_in_files(type(self))} {rows_text(len(self.keys) + len(self.rows))}"


@dataclass(frozen=True, slots=True)
class Insert(WholeRows):
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

    def versions(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.rows), "insert")
        rows = (*whole(before, fresh(before, self.keys)), *explicit(before, self.rows))
        fresh(before, [row.key for row in rows])
        return rows


ADDED: Final = "added"
"""The folder in the table's that plain files are made in, each step's in one of its own."""


@dataclass(frozen=True, slots=True)
class AddFiles(Insert):
    """Insert rows by files of Parquet whose columns have no field ids, as Hive writes them."""

    EXAMPLES = (
        Example("add_files: [5, 6]", "adds rows by a plain Parquet file without field ids"),
        Example(
            "add_files: {keys: [5], rows: [{id: 6, f1: x}]}", "the same with values of your own"
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})

    def text(self) -> str:
        return f"add a plain file of {rows_text(len(self.keys) + len(self.rows))}"

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the query that yields the rows; the format writes them and adds the files."""
        return (select_rows(self.versions(before), columns_in_order(after)),)

    def statements(self, context: StepContext) -> Statements:
        """Return the making of a folder of plain files, and the call that adds them."""
        (query,) = self.sql(context.before, context.after)
        folder = f"{LOCATION}/{ADDED}/{context.after.step}"
        into = f"insert overwrite directory '{folder}' using parquet"
        write = Sql(f"{into} select /*+ coalesce(1) */ * from ({query})", commits=False)
        return write, call_iceberg("add_files", f"source_table => '`parquet`.`{folder}`'")


@dataclass(frozen=True, slots=True)
class Upsert(WholeRows):
    EXAMPLES = (Example("upsert: [3, 5]", "writes whole rows, which are new or replace others"),)
    FAMILIES = WITH_DELETES
    SHORT = "keys"

    def versions(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.rows), "upsert")
        keys = [key_of(before, key) for key in self.keys]
        rows = (*whole(before, keys), *explicit(before, self.rows))
        each_once([row.key for row in rows])
        return rows


@dataclass(frozen=True, slots=True)
class Update(Operation):
    """Give the columns `set` of the rows `keys` new values; an absent key stays so."""

    EXAMPLES = (
        Example(
            "update: {keys: [1], set: [f1]}", "writes some columns; the ordering column grows too"
        ),
    )
    FAMILIES = WITH_DELETES
    keys: tuple[Key, ...] = ()
    set: tuple[str, ...] = ()
    absent: tuple[Key, ...] = ()

    def text(self) -> str:
        message = f"{rows_text(len(self.keys))}{absent_text(self.absent)}"
        return f"update {', '.join(self.set)} of {message}"

    def evolve(self, before: Truth) -> Truth:
        contested = {row.key: row for row in self._absent(before)}
        return written(before, before.step + 1, self._versions(before), contested=contested)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
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


@dataclass(frozen=True, slots=True)
class Delete(Operation):
    EXAMPLES = (Example("delete: [2]", "deletes rows"),)
    FAMILIES = WITH_DELETES
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


class OverwriteScope(StrEnum):
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
    FAMILIES = WITH_DELETES
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
        result = {row.group[1] for row in rows}
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; overwrite all of it: of: table")
        if len(result) > 1:
            raise SchemaChangeError("the rows are of several partitions; give those of one")
        return result.pop()


@dataclass(frozen=True, slots=True)
class Truncate(Operation):
    EXAMPLES = (Example("truncate", "takes all rows away"),)
    TEXT = "truncate the table"
    FAMILIES = WITH_DELETES

    def evolve(self, before: Truth) -> Truth:
        """Take every row away, from base files too; there is nothing to go back to then."""
        after = replaced(before, before.step + 1, lambda row: True)  # noqa: ARG005 - every one
        return replace(after, before_last=None, saved=None)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return ("truncate table {table}",)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.DELTA:
            return None
        # Delta has no other words for it (documentation, "Table deletes, updates, and merges").
        return (Sql(f"delete from {TABLE_NAME}"),)


@dataclass(frozen=True, slots=True)
class DeletePartition(Operation):
    EXAMPLES = (Example("delete_partition: 3", "drops the partition of the row with that key"),)
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "has no partitions to drop; a delete says which rows go"
    SHORT = "of"
    of: Key

    def text(self) -> str:
        return f"delete the partition of row {self.of}"

    def evolve(self, before: Truth) -> Truth:
        _, partition = self._group(before)
        return replaced(before, before.step + 1, lambda row: row.group[1] == partition)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        _, partition = self._group(before)
        return (f"alter table {{table}} drop {partition_spec(after, partition)}",)

    def _group(self, before: Truth) -> Group:
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; use delete or truncate")
        (key,) = known(before, (self.of,))
        return before.rows[key].group


@dataclass(frozen=True, slots=True)
class MoveRow(RowWrite):
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

    def versions(self, before: Truth) -> tuple[Row, ...]:
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; use upsert")
        key, to = known(before, (self.key, self.to))
        old, other = before.rows[key].group, before.rows[to].group
        if old[1] == other[1]:
            raise SchemaChangeError(f"the rows {key} and {to} are in the same partition")
        step, row = before.step + 1, new_row(before, key, before.step + 1, {})
        ids = [before.column_id(name) for name in before.table.partition_by]
        values = {**row.values, **dict(zip(ids, other[1], strict=True))}
        steps = {**row.written, **dict.fromkeys(ids, step)}
        return (replace(row, values=values, written=steps, group=(step, other[1])),)


class Rewrites(StrEnum):
    """Which file groups a touch rewrites; a new key is written in any case."""

    NONE = "none"
    SOME = "some"
    """One key of every second file group."""
    ALL = "all"
    """One key of every file group."""
    PARTITION = "partition"
    """One key of every file group of one partition, where the new row goes too; the other
    partitions stay as they are. Without partitions the same as `all`."""


_EVERY: Final = {Rewrites.SOME: 2, Rewrites.ALL: 1, Rewrites.PARTITION: 1}
"""Of the file groups that may be rewritten, every how many-th is."""


@dataclass(frozen=True, slots=True)
class Touch(RowWrite):
    """Write one new key, and one key of the file groups that the axis names."""

    EXAMPLES = (
        Example("touch", "writes as the axis `rewrites` says, see below"),
        Example("touch: none", "adds the new row alone, whatever the axis says"),
        Example("touch: all", "sets the value of the axis for one step"),
    )
    SHORT = "rewrites"
    rewrites: Annotated[Rewrites | None, Strict(strict=False)] = None
    """As the axis of the variant says; a scenario file may fix it for one step."""

    def text(self) -> str:
        return f"touch, rewrites {self._chosen}"

    def versions(self, before: Truth) -> tuple[Row, ...]:
        new = before.generation.touch_keys[before.step + 1]
        if new in before.rows:
            raise SchemaChangeError(f"a touch adds the key {new}, and there is such a row already")
        given = self._partition(before) or {}
        added = new_row(before, new, before.step + 1, given)
        return (*whole(before, self._touched(before)), added)

    def _touched(self, before: Truth) -> tuple[Value, ...]:
        """Return the keys that are written again: the first of each chosen file group."""
        firsts: dict[Group, Value] = {}
        only = self._partition(before)
        for row in before.rows.values():
            if only is None or row.group[1] == tuple(only.values()):
                firsts.setdefault(row.group, row.key)
        keys = [firsts[group] for group in sorted(firsts, key=lambda group: (group[0], str(group)))]
        return tuple(keys[:: _EVERY[self._chosen]]) if self._chosen in _EVERY else ()

    def _partition(self, before: Truth) -> Mapping[str, Value] | None:
        """Return the one partition that is written, that of the first row; None for every one."""
        first = next(iter(before.rows.values()), None)
        if self._chosen is not Rewrites.PARTITION or first is None:
            return None
        return dict(zip(before.table.partition_by, first.group[1], strict=True))

    @property
    def _chosen(self) -> Rewrites:
        return self.rewrites or Rewrites.NONE
