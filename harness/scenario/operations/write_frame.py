"""`write_frame`: whole rows by a DataFrame, whose columns need not be those of the table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.model.canonical import Value
from harness.model.conversion import convert
from harness.model.datatypes import DataType
from harness.model.schema import Field, Schema, SchemaChangeError
from harness.model.truth import Row, Truth, new_row, written
from harness.scenario.operations.api import Family, Key, Operation, TypeText, example
from harness.scenario.operations.new_rows import each_once, key_of, some
from harness.scenario.operations.spark_sql import select_nullable

PROMOTED: Final = {
    "int": ("long", "float", "double", "string"),
    "long": ("float", "double", "string"),
    "float": ("double", "string"),
    "double": ("string",),
}
"""What a type may become when it is written otherwise (apache/hudi#9743; that a double may become a
string: Hudi documentation, "Schema Evolution"). A narrower one becomes what the table has."""


@dataclass(frozen=True, slots=True)
class WriteFrame(Operation):
    """Write rows with these keys, new or replacing others, by a DataFrame of these `columns`.

    A column that the frame lacks is NULL in its rows; one that the table lacks is added to it.
    """

    EXAMPLES = example(
        "write_frame: {keys: [1, 5], columns: [id, ts, p, f3, f1], types: {f3: string}}",
        "writes whole rows by a DataFrame, whose columns need not be those of the "
        "table, see [below](#dataframes)",
    )
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "tables are written by SQL alone, and a DataFrame's are Hudi's"
    SHORT = "keys"
    CHANGES_SCHEMA = True
    keys: tuple[Key, ...]
    columns: tuple[str, ...] = ()
    """Those of the frame, in its order; none: the columns of the table."""
    types: dict[str, TypeText] | None = None
    """Of the columns that are new, or have another type than the table's."""
    reconcile: bool = False
    """Whether Hudi may fill up what the frame lacks (`hoodie.datasource.write.reconcile.schema`).
    """

    def text(self) -> str:
        columns = ", ".join(self.columns) or "the table's columns"
        how = ", reconciled" if self.reconcile else ""
        return f"write a DataFrame of {self.counted}: {columns}{how}"

    def added(self, schema: Schema) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in schema.names)

    def lacking(self, schema: Schema) -> tuple[str, ...]:
        has = self.columns or schema.names
        return tuple(name for name in schema.names if name not in has)

    def typed(self) -> Mapping[str, DataType]:
        return self.types or {}

    def with_types(self, types: Mapping[str, DataType]) -> Operation:
        return replace(self, types={**self.typed(), **types})

    def without(self, path: str) -> Operation | None:
        """Return it with one column less; a part of one stays."""
        types = {name: type_ for name, type_ in self.typed().items() if name != path}
        columns = tuple(name for name in self.columns if name != path)
        if self.columns and not columns:
            return None
        return replace(self, columns=columns, types=types or None)

    def evolve(self, before: Truth) -> Truth:
        """Add the columns that are new, at the end, and write the rows."""
        self._check(before)
        after = replace(before, schema=self._schema(before.schema))
        rows = self._rows(after, before)
        for row in rows:
            _in_types(row, self._fields(before, after))
        made = written(after, before.step + 1, rows)
        return replace(made, before_last=before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the query whose rows are the frame; the format says how it is written."""
        fields = self._fields(before, after)
        rows = [after.rows[key_of(before, key)] for key in self.keys]
        return (select_nullable([_in_types(row, fields) for row in rows], fields),)

    def _check(self, before: Truth) -> None:
        schema, fixed, types = before.schema, before.table.fixed, self.typed()
        if twice := sorted({column for column in self.columns if self.columns.count(column) > 1}):
            raise SchemaChangeError(f"the column {', '.join(twice)} stands twice in the frame")
        if absent := [name for name in fixed if name in self.lacking(schema)]:
            raise SchemaChangeError(
                f"the frame lacks {', '.join(absent)}; key, ordering and partition columns must be "
                "in columns"
            )
        if unknown := [name for name in self.added(schema) if name not in types]:
            raise SchemaChangeError(
                f"the table has no column '{unknown[0]}'; a new one needs its type in types, and "
                f"there are: {', '.join(schema.names)}"
            )
        if wrong := [name for name in types if name in fixed or name not in self.columns]:
            raise SchemaChangeError(
                f"types: '{wrong[0]}' has none; allowed: names in columns but "
                f"{', '.join(fixed)}, which keep theirs"
            )

    def _schema(self, schema: Schema) -> Schema:
        for name, type_ in self.typed().items():
            if not schema.has(name):
                continue
            old = schema.find(name).type
            if old == type_ or _promotes(type_, old):
                continue
            if not _promotes(old, type_):
                raise SchemaChangeError(
                    f"'{name}' is {old}, and no {type_} is written into it; {_allowed(old)}"
                )
            schema = schema.change_type(name, type_)
        for name in self.added(schema):
            schema = schema.add(name, self.typed()[name])
        return schema

    def _rows(self, after: Truth, before: Truth) -> list[Row]:
        keys = [key_of(before, key) for key in some(self.keys, "write_frame")]
        each_once(keys)
        lacking = [after.column_id(name) for name in self.lacking(after.schema)]
        none = dict.fromkeys(lacking)
        rows = [new_row(after, key, before.step + 1, {}) for key in keys]
        return [replace(row, values={**row.values, **none}) for row in rows]

    def _fields(self, before: Truth, after: Truth) -> tuple[Field, ...]:
        result = map(after.schema.find, self.columns or before.schema.names)
        types = self.typed()
        return tuple(replace(field, type=types.get(field.name, field.type)) for field in result)


def _promotes(old: DataType, new: DataType) -> bool:
    return str(new) in PROMOTED.get(str(old), ())


def _allowed(old: DataType) -> str:
    wider = PROMOTED.get(str(old), ())
    narrower = [name for name, others in PROMOTED.items() if str(old) in others]
    return f"allowed: {', '.join((*narrower, str(old), *wider))}"


def _in_types(row: Row, fields: tuple[Field, ...]) -> Row:
    """Return a row whose plain values have the types of the frame."""
    given: dict[int, Value] = dict(row.values)
    for field in fields:
        try:
            if not field.children:
                given[field.id] = convert(given[field.id], field.type)
        except ValueError as wrong:
            raise SchemaChangeError(f"row {row.key}: column '{field.name}': {wrong}") from wrong
    return replace(row, values=given)
