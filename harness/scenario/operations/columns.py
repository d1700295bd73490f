"""`add_column` and other changes of columns and of the partition spec."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.core.setting_values import MOMENTS, NANOSECONDS
from harness.model.canonical import Value
from harness.model.column_options import ColumnOption
from harness.model.conversion import convert
from harness.model.datatypes import NULL_ALONE, DataType, Decimal, Primitive
from harness.model.partition_fields import added, dropped, parse
from harness.model.schema import Schema, SchemaChangeError
from harness.model.truth import Truth, with_schema, with_spec
from harness.scenario.operations.api import (
    WITH_DELETES,
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    TableKind,
    TypeText,
    example,
    position_of,
)
from harness.scenario.operations.spark_sql import (
    literal,
    partition_field,
    position,
    quoted,
    type_text,
)
from harness.scenario.statements import (
    TABLE_NAME,
    IcebergCall,
    Scalar,
    SetColumns,
    Sql,
    of_table,
    under,
)


@dataclass(frozen=True, slots=True)
class ColumnChange(Operation):
    """One `alter table` that changes columns; values keep their field ids."""

    CHANGES_SCHEMA = True

    def schema(self, before: Schema) -> Schema:
        return before

    def clause(self) -> str:
        raise NotImplementedError

    def evolve(self, before: Truth) -> Truth:
        return with_schema(before, before.step + 1, self.schema(before.schema))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (f"alter table {{table}} {self.clause()}",)


@dataclass(frozen=True, slots=True)
class AddColumn(ColumnChange):
    """Add a column at the end of its siblings, `first`, or `after` one of them."""

    EXAMPLES = (
        Example(
            "add_column: {name: f3, type: string, after: f1}",
            "adds a column: with `after: x`, with `first: true`, or else at the end. "
            "With `default: x`, rows that are there have that value from then on, and so has "
            "a part of a struct that is there; Iceberg's format version 3 only",
        ),
        Example(
            "add_column: {name: s.c, type: long, first: true}",
            "adds a part of a struct, by its dotted path",
        ),
    )
    name: str
    type: TypeText
    first: bool = False
    after: str | None = None
    default: Value = None

    def text(self) -> str:
        default = "" if self.default is None else f" with the default {self.default}"
        return f"add column {self.name} {self.type}{position(self.first, self.after, str)}{default}"

    def features(self) -> tuple[str, ...]:
        return () if self.default is None else ("column-defaults",)

    def schema(self, before: Schema) -> Schema:
        """Rows that are there have the default (Iceberg specification, "Default values")."""
        column_position = position_of(self.first, self.after)
        return before.add(self.name, self.type, column_position, self._default())

    def typed(self) -> Mapping[str, DataType]:
        return {self.name: self.type}

    def with_types(self, types: Mapping[str, DataType]) -> Operation:
        return replace(self, type=types[self.name])

    def _default(self) -> Value:
        if self.default is None:
            return None
        if not isinstance(self.type, Primitive | Decimal):
            raise SchemaChangeError("a default is for a column or part that has no parts")
        try:
            return convert(self.default, self.type)
        except ValueError as wrong:
            raise SchemaChangeError(f"the default: {wrong}") from wrong

    def clause(self) -> str:
        column_position = position(self.first, self.after)
        return f"add columns ({quoted(self.name)} {type_text(self.type)}{column_position})"

    def statements(self, context: StepContext) -> Statements:
        moment, type_ = str(self.type).startswith("timestamp"), str(self.type)
        if moment and context.settings.get(MOMENTS) == NANOSECONDS:
            type_ = NANOSECONDS
        untold = type_ in {NANOSECONDS, *NULL_ALONE}
        if context.kind.family is not Family.ICEBERG or (self.default is None and not untold):
            return None
        # Iceberg parses texts for what has no form in Java.
        text = self.default is not None and moment
        default = str(self.default).replace(" ", "T") if text else self.default
        named: dict[str, Scalar] = {"name": self.name, "type_": type_, "default": default}
        named |= {"first": self.first, "after": self.after} | ({"untold": True} if untold else {})
        call = IcebergCall("add_column", named)
        if not untold:
            return (call,)
        fields = [(f, str(f.type)) for f in context.after.schema.fields]
        other = {field.name: "string" for field, text in fields if text in NULL_ALONE}
        listed = tuple((f.name, other.get(f.name, type_text(f.type))) for f, _ in fields)
        refresh = Sql(f"refresh table {TABLE_NAME}", commits=False)
        return call, SetColumns(listed, cascade=False), refresh

    def unsupported(self, kind: TableKind) -> str:
        if self.default is not None and kind.family is not Family.ICEBERG:
            return f"has no default values of columns, which are {Family.ICEBERG}'s alone"
        return Operation.unsupported(self, kind)


@dataclass(frozen=True, slots=True)
class DropColumn(ColumnChange):
    EXAMPLES = example("drop_column: f2", "drops a column")
    TEXT = "drop column {0.name}"
    SHORT = "name"
    name: str

    def schema(self, before: Schema) -> Schema:
        return before.drop(self.name)

    def clause(self) -> str:
        return f"drop column {quoted(self.name)}"


_CASE: Final = "spark.sql.caseSensitive"
"""With `false`, its default, Spark takes a name in other letters' case for the same column's."""


@dataclass(frozen=True, slots=True)
class RenameColumn(ColumnChange):
    EXAMPLES = example(
        "rename_column: {name: f1, to: g}", "renames a column; `to` is a name without a path"
    )
    TEXT = "rename column {0.name} to {0.to}"
    name: str
    to: str

    @property
    def new_path(self) -> str:
        parent, dot, _ = self.name.rpartition(".")
        return f"{parent}{dot}{self.to}"

    def schema(self, before: Schema) -> Schema:
        return before.rename(self.name, self.to)

    def clause(self) -> str:
        return f"rename column {quoted(self.name)} to {quoted(self.to)}"

    def statements(self, context: StepContext) -> Statements:
        only_case = self.name.casefold() == self.to.casefold()
        if context.kind.family is not Family.ICEBERG or not only_case:
            return None
        return under(_CASE, "true", "false", of_table(self.sql(context.before, context.after)))


@dataclass(frozen=True, slots=True)
class MoveColumn(ColumnChange):
    EXAMPLES = example(
        "move_column: {name: f1, after: f2}", "moves a column, or with `first: true` to the front"
    )
    name: str
    first: bool = False
    after: str | None = None

    def text(self) -> str:
        return f"move column {self.name}{position(self.first, self.after, str)}"

    def schema(self, before: Schema) -> Schema:
        if not self.first and self.after is None:
            raise SchemaChangeError("say where the column goes: 'first: true' or 'after: x'")
        return before.move(self.name, position_of(self.first, self.after))

    def clause(self) -> str:
        return f"alter column {quoted(self.name)}{position(self.first, self.after)}"


@dataclass(frozen=True, slots=True)
class ChangeType(ColumnChange):
    EXAMPLES = example(
        "change_type: {name: n, to: long}",
        "changes a type without parts; change a part by its path (`parts.n`, "
        "`m.value`, `l.element`); with `exact: false` [values need have no exact "
        "form there](#what-is-not-settled)",
    )
    TEXT = "change the type of {0.name} to {0.to}"
    name: str
    to: TypeText
    exact: bool = True
    """Whether the file is refused if a value has no exact form in the new type."""

    def schema(self, before: Schema) -> Schema:
        return before.change_type(self.name, self.to, exact=self.exact)

    def clause(self) -> str:
        return f"alter column {quoted(self.name)} type {type_text(self.to)}"


@dataclass(frozen=True, slots=True)
class SetDefault(ColumnChange):
    """Rows that are there keep what they have."""

    EXAMPLES = example(
        "set_default: {name: f1, default: x}",
        "gives a column another default, for rows that are inserted without it from then on, or "
        "with `null` none",
    )
    TEXT = "set the default of {0.name} to {0.default}"
    FAMILIES = frozenset({Family.DELTA})
    name: str
    default: Value

    def schema(self, before: Schema) -> Schema:
        return before.fill(self.name, ColumnOption(self.default))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        field = after.schema.find(self.name)
        value = field.option and field.option.default
        change = "drop default" if value is None else f"set default {literal(value, field)}"
        return (f"alter table {{table}} alter column {quoted(self.name)} {change}",)


@dataclass(frozen=True, slots=True)
class ChangeNullability(ColumnChange):
    """Let a column have NULL, or forbid it. Every column may have it when a table is created.

    No rule of the truth's follows from it: a write that breaks it is refused, and shows in what was
    applied.
    """

    EXAMPLES = example(
        "change_nullability: {name: f1, nullable: false}",
        "forbids NULL in a column, or with `true` allows it; every column may have NULL at first",
    )
    FAMILIES = WITH_DELETES
    name: str
    nullable: bool

    def text(self) -> str:
        return f"{'allow' if self.nullable else 'forbid'} NULL in column {self.name}"

    def evolve(self, before: Truth) -> Truth:
        column = {before.column_id(self.name)}
        required = before.required - column if self.nullable else before.required | column
        return replace(ColumnChange.evolve(self, before), required=required)

    def clause(self) -> str:
        return f"alter column {quoted(self.name)} {'drop' if self.nullable else 'set'} not null"

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.ICEBERG or self.nullable:
            return None
        # Spark refuses it: "Cannot change nullable column to non-nullable".
        return (IcebergCall("require_column", {"name": self.name}),)


@dataclass(frozen=True, slots=True)
class ChangePartitionColumn(Operation):
    """Rename, drop, move or retype a partition column, which the writer should refuse.

    Where it does not, a renamed, moved or retyped one is like any other. For a dropped one the
    truth is the table of before, for nothing says what becomes of the partitions. Hudi 0.15.0 to
    1.2.0 refuse to rename and to drop one; Delta renames one of a table with column mapping (Delta
    transaction log protocol, "Column Mapping").
    """

    EXAMPLES = example(
        "change_partition_column: {column: p, rename: q}",
        "renames (`rename: q`), drops (`drop: true`), moves (`after: x`) or "
        "retypes (`to: long`) a partition column, which Hudi should refuse. A "
        "renamed, moved or retyped one is like any other where it does not: it "
        "lets one move and have another type, and Delta renames one",
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
        if self.column not in before.table.partition_by:
            have = ", ".join(before.table.partition_by) or "none"
            raise SchemaChangeError(f"'{self.column}' is no partition column; there are: {have}")
        change = self._change()
        if isinstance(change, DropColumn):
            return with_schema(before, before.step + 1, before.schema)
        names = {self.column: self.rename or self.column}
        by = tuple(names.get(name, name) for name in before.table.partition_by)
        return replace(change.evolve(before), table=replace(before.table, partition_by=by))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return self._change().sql(before, after)

    def _change(self) -> ColumnChange:
        changes: tuple[tuple[object, ColumnChange], ...] = (
            (self.rename is not None, RenameColumn(self.column, self.rename or "")),
            (self.drop, DropColumn(self.column)),
            (self.after is not None, MoveColumn(self.column, after=self.after)),
            (self.to is not None, ChangeType(self.column, self.to or Primitive("int"))),
        )
        given = [change for is_given, change in changes if is_given]
        if len(given) != 1:
            raise SchemaChangeError("say one change: 'rename', 'drop: true', 'after' or 'to'")
        return given[0]


@dataclass(frozen=True, slots=True)
class PartitionFieldChange(Operation):
    """Something that is done to one field of the partition spec."""

    FAMILIES = frozenset({Family.ICEBERG})
    CHANGES_SCHEMA = True
    field: str

    def text(self) -> str:
        return f"{self._verb} partition field {self.field}"

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        field = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} {self._verb} partition field {field}",)

    @property
    def _verb(self) -> str:
        return type(self).__name__.removesuffix("PartitionField").lower()


@dataclass(frozen=True, slots=True)
class AddPartitionField(PartitionFieldChange):
    EXAMPLES = example(
        "add_partition_field: day(at)",
        "new files are partitioned by one more field of the partition spec: `p`, "
        "`bucket(4, p)`, `truncate(4, p)`, `year(p)`, `month(p)`, `day(p)` or "
        "`hour(p)`, see [below](#tables-of-iceberg)",
    )
    SHORT = "field"

    def evolve(self, before: Truth) -> Truth:
        new, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, added(before.spec, new))


@dataclass(frozen=True, slots=True)
class DropPartitionField(PartitionFieldChange):
    EXAMPLES = example(
        "drop_partition_field: day(at)",
        "takes a field out of the partition spec",
        after=("add_partition_field: day(at)",),
    )
    SHORT = "field"

    def evolve(self, before: Truth) -> Truth:
        old, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, dropped(before.spec, old))


@dataclass(frozen=True, slots=True)
class ReplacePartitionField(PartitionFieldChange):
    EXAMPLES = example(
        "replace_partition_field: {field: day(at), by: hour(at)}",
        "puts a field in the place of another one",
        after=("add_partition_field: day(at)",),
    )
    by: str

    def text(self) -> str:
        return f"{PartitionFieldChange.text(self)} by {self.by}"

    def evolve(self, before: Truth) -> Truth:
        (old, _), (new, _) = (parse(text, before.schema) for text in (self.field, self.by))
        return with_spec(before, before.step + 1, added(dropped(before.spec, old), new))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        (replaced,) = PartitionFieldChange.sql(self, before, after)
        return (f"{replaced} with {partition_field(*parse(self.by, before.schema))}",)
