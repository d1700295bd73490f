"""Writes of rows by one statement of Spark SQL, whatever the rows were before."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import Strict

from harness.core.texts import counted
from harness.engines.query_sql import predicate
from harness.model import query_shapes
from harness.model.canonical import UNSETTLED, Value, text_of
from harness.model.conversion import convert
from harness.model.query import Condition, Query
from harness.model.query import at as value_at
from harness.model.query_shapes import NoQuestionError
from harness.model.schema import Field, SchemaChangeError
from harness.model.truth import (
    Group,
    Row,
    Truth,
    changed_row,
    late,
    named,
    new_row,
    replaced,
    row_values,
    written,
)
from harness.model.values import never_null
from harness.scenario.operations.api import (
    WITH_DELETES,
    Example,
    Explicit,
    Family,
    Key,
    Operation,
    Statements,
    StepContext,
    example,
    name_in_files,
)
from harness.scenario.operations.new_rows import (
    absent_text,
    each_once,
    explicit,
    fresh,
    key_of,
    known,
    settable,
    some,
    whole,
)
from harness.scenario.operations.spark_sql import (
    choice,
    columns_in_order,
    insert_rows,
    key_list,
    literal,
    merge_into,
    partition_spec,
    quoted,
    select_rows,
)
from harness.scenario.statements import (
    LOCATION,
    TABLE_NAME,
    ArrowFile,
    IcebergCall,
    Sql,
    call_iceberg,
    under,
)


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


@dataclass(frozen=True, slots=True)
class Insert(WholeRows):
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "insert: [5, 6]", "adds new rows; one insert makes one file group in each partition"
        ),
        Example(
            "insert: {keys: [5], rows: [{id: 6, f1: x, s: {a: y, b: 1}}]}",
            "the same with values of your own",
        ),
    )
    TEXT: ClassVar[str] = "insert {0.counted}"
    SHORT = "keys"

    def versions(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.rows), "insert")
        rows = (*whole(before, fresh(before, self.keys)), *explicit(before, self.rows))
        fresh(before, [row.key for row in rows])
        return rows


@dataclass(frozen=True, slots=True)
class InsertWithout(RowWrite):
    """Insert rows with what the writer puts into columns that are left out."""

    EXAMPLES = example(
        "insert_without: {columns: [f1], keys: [5]}",
        "adds new rows by a statement that does not name these columns: they have what the table "
        "says of them ([options](#column-options)), or NULL",
    )
    FAMILIES = frozenset({Family.DELTA, Family.ICEBERG})
    columns: tuple[str, ...]
    keys: tuple[Key, ...]

    def text(self) -> str:
        return f"insert {self.counted} without {', '.join(self.columns)}"

    def without(self, path: str) -> Operation:
        left = tuple(name for name in self.columns if name != path)
        return replace(self, columns=left) if left else Insert(self.keys)

    def versions(self, before: Truth) -> tuple[Row, ...]:
        names = settable(before, some(self.columns, "insert_without"), generated=True)
        left = {name: _left_out(before.schema.find(name)) for name in names}
        keys = fresh(before, some(self.keys, "insert_without"))
        return tuple(new_row(before, key, before.step + 1, left) for key in keys)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        fields = [field for field in after.schema.fields if field.name not in self.columns]
        names = ", ".join(quoted(field.name) for field in fields)
        rows = f"select /*+ coalesce(1) */ * from ({select_rows(self.versions(before), fields)})"
        return (f"insert into {{table}} ({names}) {rows}",)


def _left_out(field: Field) -> Value:
    if field.option is None:
        return field.default
    return UNSETTLED if field.option.identity else field.option.default


LEGACY_FORMAT: Final = "spark.sql.parquet.writeLegacyFormat"
"""Under it Spark writes decimals of fixed length, and lists that have two levels (`SQLConf`)."""
ADDED: Final = "added"
"""The folder in the table's that plain files are made in, each step's in one of its own."""


@dataclass(frozen=True, slots=True)
class AddFiles(Insert):
    """Insert rows by files of Parquet whose columns have no field ids, as Hive writes them."""

    EXAMPLES = (
        Example("add_files: [5, 6]", "adds rows by a plain Parquet file without field ids"),
        Example(
            "add_files: {keys: [5], rows: [{id: 6, f1: x}], legacy: true}",
            "the same with values of your own; `legacy: true` gives the file the layout of old "
            "Hive and Spark, with lists of two levels where no element is NULL",
        ),
    )
    TEXT = "add a plain file of {0.counted}"
    FAMILIES = frozenset({Family.ICEBERG})
    legacy: bool = False

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (select_rows(self.versions(before), columns_in_order(after)),)

    def statements(self, context: StepContext) -> Statements:
        (query,) = self.sql(context.before, context.after)
        folder = f"{LOCATION}/{ADDED}/{context.after.step}"
        into = f"insert overwrite directory '{folder}' using parquet"
        write = Sql(f"{into} select /*+ coalesce(1) */ * from ({query})", commits=False)
        written = under(LEGACY_FORMAT, "true", "false", (write,)) if self.legacy else (write,)
        return *written, call_iceberg("add_files", f"source_table => '`parquet`.`{folder}`'")


@dataclass(frozen=True, slots=True)
class WriteParquet(Insert):
    """Insert rows by files of Parquet that PyArrow puts into the folders of a plain Hive table."""

    EXAMPLES = (
        Example(
            "write_parquet: {keys: [5], int96: true}",
            "adds rows by Parquet files that PyArrow writes, with `int96` timestamps of 96 bits",
        ),
        Example(
            "write_parquet: {keys: [5], also: {p: 99}}",
            "the same, and the files have partition columns as well, with a value of their own: "
            "the folder's counts",
        ),
        Example(
            "write_parquet: {keys: [5], legacy: true}",
            "adds rows by files that Spark writes in the layout of old Hive and Spark, as with "
            "`add_files`",
        ),
    )
    FAMILIES = frozenset({Family.HIVE})
    int96: bool = False
    also: Explicit | None = None
    legacy: bool = False

    def text(self) -> str:
        if self.legacy:
            return f"add {self.counted} by files of the old layout"
        also = f" that have {', '.join(self.also)} too" if self.also else ""
        return f"add {self.counted} by files of PyArrow{also}"

    def evolve(self, before: Truth) -> Truth:
        added = {
            (text_of(row.key), name): convert(value, before.schema.find(name).type)
            for row in self.versions(before)
            for name, value in (self.also or {}).items()
        }
        after = Insert.evolve(self, before)
        return replace(after, beside={**before.beside, **added}) if added else after

    def statements(self, context: StepContext) -> Statements:
        before, after = context.before, context.after
        if self.legacy:
            if self.int96 or self.also:
                raise SchemaChangeError("'legacy' stands with neither 'int96' nor 'also'")
            insert = insert_rows(after, self.versions(before)).replace("{table}", TABLE_NAME)
            return under(LEGACY_FORMAT, "true", "false", [Sql(insert)])
        by, added = after.table.partition_by, self.also or {}
        if wrong := [name for name in added if name not in by]:
            raise SchemaChangeError(f"also: '{wrong[0]}' is no partition column")
        fields = [field for field in after.schema.fields if field.name not in by]
        more = [after.schema.find(name) for name in added]
        also = tuple(convert(added[field.name], field.type) for field in more)
        folders: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
        for row in self.versions(before):
            values = tuple(named(row.of(field), field) for field in fields)
            folders.setdefault(row.group[1], []).append((*values, *also))
        columns = tuple((field.name, str(field.type)) for field in (*fields, *more))
        files = tuple(
            ArrowFile(
                "/".join(f"{name}={text_of(v)}" for name, v in zip(by, values, strict=True)),
                columns,
                tuple(rows),
                self.int96,
            )
            for values, rows in folders.items()
        )
        repair = (Sql(f"msck repair table {TABLE_NAME}", commits=False),) if by else ()
        return *files, *repair, Sql(f"refresh table {TABLE_NAME}", commits=False)


@dataclass(frozen=True, slots=True)
class Upsert(WholeRows):
    EXAMPLES = example("upsert: [3, 5]", "writes whole rows, which are new or replace others")
    TEXT = "upsert {0.counted}"
    FAMILIES = WITH_DELETES
    SHORT = "keys"

    def versions(self, before: Truth) -> tuple[Row, ...]:
        some((*self.keys, *self.rows), "upsert")
        keys = [key_of(before, key) for key in self.keys]
        rows = (*whole(before, keys), *explicit(before, self.rows))
        each_once([row.key for row in rows])
        return rows


def condition(before: Truth, where: str) -> Condition:
    try:
        (result,) = query_shapes.conditions(f"where({where})", before)
    except (NoQuestionError, ValueError) as wrong:
        raise SchemaChangeError(str(wrong)) from wrong
    return result


def meeting(before: Truth, where: str) -> tuple[Value, ...]:
    """Return the keys of the rows that meet a condition."""
    query, names = Query(where=condition(before, where)), before.schema.names
    values = {row.key: row_values(row, before.schema) for row in before.rows.values()}
    rows = {key: dict(zip(names, of, strict=True)) for key, of in values.items()}
    for key, row in rows.items():
        if any(value_at(row, part.path) is UNSETTLED for part in query.conditions):
            raise SchemaChangeError(
                f"row {key}: the writer chose the number in '{where}'; take keys"
            )
    return tuple(key for key, row in rows.items() if query.takes(row))


@dataclass(frozen=True, slots=True)
class Update(Operation):
    """Give the columns `set` of the rows `keys` new values, or of those that meet a condition.

    An absent key stays so.
    """

    EXAMPLES = (
        Example(
            "update: {keys: [1], set: [f1]}", "writes some columns; the ordering column grows too"
        ),
        Example("update: {where: p = 0, set: [f1]}", "the same of the rows that meet a condition"),
    )
    FAMILIES = WITH_DELETES
    keys: tuple[Key, ...] = ()
    set: tuple[str, ...] = ()
    absent: tuple[Key, ...] = ()
    where: str = ""

    def text(self) -> str:
        rows = f"rows where {self.where}" if self.where else self.counted
        return f"update {', '.join(self.set)} of {rows}{absent_text(self.absent)}"

    def evolve(self, before: Truth) -> Truth:
        contested = {row.key: row for row in self._absent(before)}
        return written(before, before.step + 1, self._versions(before), contested=contested)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        rows = (*self._versions(before), *self._absent(before))
        names = *self.set, *after.table.order_by
        sets = ", ".join(choice(after, name, rows, literal, quoted) for name in names)
        where = f"{quoted(after.table.key)} in {key_list(after, [row.key for row in rows])}"
        if self.where:
            where = predicate(condition(before, self.where), "`")
        return (f"update {{table}} set {sets} where {where}",)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        if self.where and (self.keys or self.absent):
            raise SchemaChangeError("'where' stands with neither 'keys' nor 'absent'")
        keys = self.changed(before)
        some((*keys, *self.absent), "update")
        columns = settable(before, some(self.set, "update"))
        return tuple(changed_row(before, key, before.step + 1, columns) for key in keys)

    def changed(self, before: Truth) -> tuple[Value, ...]:
        return meeting(before, self.where) if self.where else known(before, self.keys)

    def _absent(self, before: Truth) -> tuple[Row, ...]:
        return whole(before, fresh(before, self.absent))


@dataclass(frozen=True, slots=True)
class Delete(Operation):
    EXAMPLES = example("delete: [2]", "deletes rows")
    FAMILIES = WITH_DELETES
    SHORT = "keys"
    keys: tuple[Key, ...] = ()
    absent: tuple[Key, ...] = ()

    def text(self) -> str:
        return f"delete {self.counted}{absent_text(self.absent)}"

    def evolve(self, before: Truth) -> Truth:
        some((*self.keys, *self.absent), "delete")
        fresh(before, self.absent)
        return written(before, before.step + 1, deleted=known(before, self.keys))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        keys = key_list(after, (*known(before, self.keys), *fresh(before, self.absent)))
        return (f"delete from {{table}} where {quoted(after.table.key)} in {keys}",)


@dataclass(frozen=True, slots=True)
class DeleteWhere(Operation):
    EXAMPLES = example(
        "delete_where: p = 0",
        "deletes the rows that meet a condition, written [as in questions](#conditions)",
    )
    TEXT = "delete where {0.where}"
    FAMILIES = WITH_DELETES
    SHORT = "where"
    where: str

    def evolve(self, before: Truth) -> Truth:
        return written(before, before.step + 1, deleted=meeting(before, self.where))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        where = predicate(condition(before, self.where), "`")
        return (f"delete from {{table}} where {where}",)


@dataclass(frozen=True, slots=True)
class DeleteByValue(Operation):
    """Delete every row that has one of these tuples of values, by an equality delete file.

    NULL among them is equal to NULL (Iceberg specification, "Equality Delete Files"). Columns and
    parts of structs that the rows' files lack have NULL there, or their default.
    """

    EXAMPLES = (
        Example(
            "delete_by_value: [{f1: x}]",
            "deletes the rows with this value by an equality delete file, as Flink writes it",
        ),
        Example(
            "delete_by_value: [{s.a: x, f1: null}, {s.a: y, f1: z}]",
            "the same by several columns, or parts of structs",
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    SHORT = "values"
    values: tuple[Explicit, ...] = ()

    def text(self) -> str:
        columns = ", ".join(dict.fromkeys(name for given in self.values for name in given))
        return f"delete by {counted(len(self.values), 'value')} of {columns}"

    def evolve(self, before: Truth) -> Truth:
        columns, gone = self._gone(before)
        keys = [row.key for row in before.rows.values() if _at(columns, row, before) in gone]
        return written(before, before.step + 1, deleted=keys)

    def statements(self, context: StepContext) -> Statements:
        columns, gone = self._gone(context.before)
        values = tuple(value for row in gone for value in row)
        return (IcebergCall("delete_by_value", {"columns": columns, "values": values}),)

    def _gone(self, before: Truth) -> tuple[tuple[str, ...], list[tuple[str | int | None, ...]]]:
        """Return the columns, and the values of each row; of types that Py4J hands over as such."""
        columns = tuple(some(self.values, "delete_by_value")[0])
        types = [str(before.schema.find(path).type) for path in some(columns, "delete_by_value")]
        if any(tuple(given) != columns for given in self.values) or set(types) - {"string", "int"}:
            raise SchemaChangeError(
                "deletes by value are written by the same columns in each row, of string and int"
            )
        gone = [tuple(_text_or_number(value) for value in given.values()) for given in self.values]
        return columns, gone


def _text_or_number(value: Value) -> str | int | None:
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise SchemaChangeError(f"{value} is no text and no whole number")
    return value


def _at(columns: Iterable[str], row: Row, truth: Truth) -> tuple[Value, ...]:
    values = dict(zip(truth.schema.names, row_values(row, truth.schema), strict=True))
    return tuple(value_at(values, path) for path in columns)


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
    TEXT = "overwrite the {0.of} with {0.counted}"
    FAMILIES = WITH_DELETES
    SHORT = "keys"
    keys: tuple[Key, ...]
    of: Annotated[OverwriteScope, Strict(strict=False)] = OverwriteScope.TABLE

    def evolve(self, before: Truth) -> Truth:
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
    EXAMPLES = example("truncate", "takes all rows away")
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
    EXAMPLES = example("delete_partition: 3", "drops the partition of the row with that key")
    TEXT = "delete the partition of row {0.of}"
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "has no partitions to drop; a delete says which rows go"
    SHORT = "of"
    of: Key

    def evolve(self, before: Truth) -> Truth:
        partition = self._partition(before)
        return replaced(before, before.step + 1, lambda row: row.group[1] == partition)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (f"alter table {{table}} drop {partition_spec(after, self._partition(before))}",)

    def _partition(self, before: Truth) -> tuple[Value, ...]:
        if not before.table.partition_by:
            raise SchemaChangeError("the table has no partitions; use delete or truncate")
        (key,) = known(before, (self.of,))
        return before.rows[key].group[1]


@dataclass(frozen=True, slots=True)
class MoveRow(RowWrite):
    EXAMPLES = example(
        "move_row: {key: 1, to: 2}",
        "writes a row anew into the partition of another one, see [below](#rows-that-move)",
    )
    TEXT = "move row {0.key} to the partition of row {0.to}"
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "has no index that could find a row in one partition alone"
    key: Key
    to: Key

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


REWRITES: Final = "rewrites"
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

    def axis(self) -> str:
        return "" if self.rewrites else REWRITES

    def following(self, value: str) -> Operation:
        return Touch(Rewrites(value))

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


def _late(before: Truth, key: Value) -> Row:
    """Return a version whose ordering value is that of a step before all others: of minus this."""
    row, types, step = before.generation.ordinals[key], before.generation.types, before.step + 1
    order = {name: before.schema.find(name) for name in before.table.order_by}
    given = {name: never_null(field, -step, row, types) for name, field in order.items()}
    new = tuple(given.values())
    if key in before.rows and not new < (old := before.ordering_values(before.rows[key])):
        was, now = (", ".join(map(str, values)) for values in (old, new))
        raise SchemaChangeError(
            f"row {key}: the ordering column goes from {was} to {now}, which is not less; "
            f"let the harness make the row's '{', '.join(order)}'"
        )
    return new_row(before, key, step, given)


@dataclass(frozen=True, slots=True)
class LateWrite(Operation):
    """Send versions of rows with a smaller ordering value than all before them.

    The table's merge mode says what becomes of them.
    """

    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "orders no versions of a row: the last write stands, late or not"
    keys: tuple[Key, ...]

    def text(self) -> str:
        return f"{name_in_files(type(self)).replace('_', ' ')} of {self.counted}"

    def _versions(self, before: Truth, there: Collection[Value]) -> tuple[Row, ...]:
        """Return the whole versions that are sent; `there`: the keys that may be named."""
        name = name_in_files(type(self))
        if not before.table.order_by:
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

    EXAMPLES = example(
        "late_upsert: [1]",
        "writes whole rows that are older than those that are there, see [late data](#late-data)",
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

    EXAMPLES = example("late_delete: [2]", "deletes rows by a source that is older than they are")
    SHORT = "keys"

    def evolve(self, before: Truth) -> Truth:
        rows = self._versions(before, before.rows)
        return late(before, before.step + 1, {row.key: None for row in rows})

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one merge statement: `delete from` has no ordering value, and deletes whatever is.

        Under event time it must not win over a greater ordering value (apache/hudi#17372, #19978).
        """
        source = select_rows(self._versions(before, before.rows), columns_in_order(after))
        merge, _ = merge_into("{table}", source, after)
        return (f"{merge} when matched then delete",)


NAME: Final = re.compile(r"[A-Za-z][\w.-]*")
"""What `set` takes as the name of a setting without quotes."""
NO_VALUE: Final = re.compile(r"""['"`;\\$]|[^ -~]|^\s|\s$|^$""")
"""What makes a value another one in `set`, which ends at a semicolon and fills in `${…}`."""


class MetadataWay(StrEnum):
    SET = "set"
    QUOTED_SET = "quoted_set"
    """With the prefix in quotes, which SQL does not take off."""
    TABLE_OPTIONS = "table_options"
    FRAME = "frame"


TEXTS: Final[Mapping[MetadataWay, str]] = dict(
    zip(
        MetadataWay,
        ("by set", "by set with quotes", "as table options", "by a DataFrame"),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class WriteWithMetadata(Operation):
    """Write whole rows with these keys, new or replacing others, with `metadata` in the commit.

    `prefix` is what the names of all of it begin with.
    """

    EXAMPLES = example(
        'write_with_metadata: {keys: [1, 5], prefix: run., metadata: {run.id: "17"}, by: set}',
        "as `upsert`, with metadata of your own in the commit, see [below](#extra-metadata)",
    )
    FAMILIES = frozenset({Family.HUDI})
    keys: tuple[Key, ...]
    metadata: dict[str, str]
    prefix: str
    by: Annotated[MetadataWay, Strict(strict=False)] = MetadataWay.SET

    def text(self) -> str:
        return f"upsert {self.counted}, {', '.join(self.metadata)} {TEXTS[self.by]}"

    def evolve(self, before: Truth) -> Truth:
        if wrong := next(self._wrong(), ""):
            raise SchemaChangeError(wrong)
        return Upsert(self.keys).evolve(before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return Upsert(self.keys).sql(before, after)

    def _wrong(self) -> Iterator[str]:
        if not self.metadata:
            yield "metadata: there is none; give at least one name with its value"
        for name in (self.prefix, *self.metadata):
            if not NAME.fullmatch(name):
                yield f"'{name}' is no name of metadata; allowed: letters, digits, '.', '_' and '-'"
        for name, value in self.metadata.items():
            if not name.startswith(self.prefix) or name == self.prefix:
                yield f"metadata: '{name}' has no name behind the prefix; write {self.prefix}…"
            if NO_VALUE.search(value):
                yield (
                    f"metadata: the value of '{name}' cannot be told by every way; allowed: ASCII "
                    "without quotes, ';', '$', '\\' and blanks at its ends"
                )
