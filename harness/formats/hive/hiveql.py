"""HiveQL text, where it is another than Spark SQL: literals, whole rows, changes of columns. Pure.

Sources: Hive language manual, "DML" and "DDL"; the grammar of Hive 3.1.3.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.formats.hive.format import ZONELESS, hive_type
from harness.model.canonical import Value
from harness.model.datatypes import Array, DataType, Map, Primitive, Struct
from harness.model.identifiers import TABLE
from harness.model.schema import Field, Table
from harness.model.truth import Truth
from harness.scenario.definition import CASCADE
from harness.scenario.operations import spark_sql
from harness.scenario.operations.spark_sql import (
    columns_in_order,
    merge_into,
    nested,
    quoted,
    select_rows,
    text,
)
from harness.scenario.statements import DATABASE, LOCATION

NAME: Final = f"{DATABASE}.{TABLE}"


def definition(columns: Sequence[tuple[str, DataType]]) -> str:
    return ", ".join(f"{quoted(name)} {hive_type(type_)}" for name, type_ in columns)


def create_table(table: Table, files: str, more: str = "", *, kind: str = "table") -> str:
    """Return the creation of a table in its folder; `more`: what stands behind the columns."""
    types = dict(table.columns)
    columns = [(name, of) for name, of in table.columns if name not in table.partition_by]
    parts = definition([(name, types[name]) for name in table.partition_by])
    partitioned = f" partitioned by ({parts})" if parts else ""
    return (
        f"create {kind} {NAME} ({definition(columns)}){partitioned}{more} stored as {files} "
        f"location 'file:{LOCATION}'"
    )


def whole_rows(before: Truth, after: Truth, stay: Collection[str]) -> str:
    """Return an insert, or a merge by the key; no update may set the columns that `stay`."""
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    fields = columns_in_order(after)
    source = select_rows(rows, fields, literal)
    if not any(row.key in before.rows for row in rows):
        return f"insert into {NAME}{partitions(after)} {source}"
    merge, new = merge_into(NAME, source, after)
    named = [f"{new}.{quoted(field.name)}" for field in fields]
    sets = ", ".join(
        f"{quoted(field.name)} = {value}"
        for field, value in zip(fields, named, strict=True)
        if field.name not in stay
    )
    return (
        f"{merge} when matched then update set {sets} "
        f"when not matched then insert values ({', '.join(named)})"
    )


def failed_rows(before: Truth, after: Truth, stay: Collection[str]) -> str:
    """Return the write of the rows that a write which is to fail would have made."""
    made = {row.key: row for row in after.failed}
    return whole_rows(before, replace(after, rows={**after.rows, **made}), stay)


def overwritten(before: Truth, after: Truth) -> str:
    """Return the statement after which the new rows are all that there is."""
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    source = select_rows(rows, columns_in_order(after), literal)
    return f"insert overwrite table {NAME}{partitions(after)} {source}"


def partitions(truth: Truth) -> str:
    """Return the clause that lets each row say which partition it goes to."""
    by = ", ".join(map(quoted, truth.table.partition_by))
    return f" partition ({by})" if by else ""


def changed_columns(before: Truth, after: Truth, settings: Mapping[str, str]) -> str:
    """Return the change of one schema's columns to another's; partitions follow by a setting."""
    old, new = _columns(before), _columns(after)
    cascade = bool(after.table.partition_by) and settings.get(CASCADE) != "off"
    end = " cascade" if cascade else ""
    if new[: len(old)] == old:
        return f"alter table {NAME} add columns ({definition(new[len(old) :])}){end}"
    others = [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]]
    if len(old) == len(new) and len(others) == 1:
        ((name, _), column) = others[0]
        return f"alter table {NAME} change column {quoted(name)} {definition([column])}{end}"
    return f"alter table {NAME} replace columns ({definition(new)}){end}"


def _columns(truth: Truth) -> list[tuple[str, DataType]]:
    by = truth.table.partition_by
    return [(field.name, field.type) for field in truth.schema.fields if field.name not in by]


_WITHOUT_TEXT: Final = {
    "nan": "1e308D * 10D - 1e308D * 10D",
    "inf": "1e308D * 10D",
    "-inf": "1e308D * -10D",
    "-0.0": "rand() * 0D * -1D",  # of constants alone Calcite makes a BigDecimal, without a sign
}
"""Of the texts of these Hive makes NULL, or 0 without a sign."""


def literal(value: Value, field: Field) -> str:
    """Return a stored value as a typed expression; Hive has no nested casts, no bytes literals."""
    if value is None and isinstance(field.type, Struct | Array | Map):
        return f"if(false, {_some(field)}, null)"
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    if isinstance(value, float) and (product := _WITHOUT_TEXT.get(str(value))):
        return f"cast({product} as {field.type})"
    if value and (text_ := nested(value, field, literal)):
        return text_
    zoneless = field.type == ZONELESS
    plain = replace(field, type=Primitive("timestamp")) if zoneless else field
    return spark_sql.literal(value, plain)


def _some(field: Field) -> str:
    """Return a value of a nested type."""
    match field.type:
        case Struct():
            parts = (f"{text(c.name)}, {literal(None, c)}" for c in field.children)
            return f"named_struct({', '.join(parts)})"
        case Array():
            return f"array({literal(None, field.children[0])})"
    key, part = field.children
    some = {"string": "''", "boolean": "false"}.get(str(key.type), f"cast(0 as {key.type})")
    return f"map({some}, {literal(None, part)})"
