"""Statements of Spark SQL that several formats share: creations, and writes of whole rows. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from harness.model.datatypes import DataType
from harness.model.identifiers import TABLE
from harness.model.schema import Field, Table
from harness.model.truth import Row, Truth
from harness.scenario.operations.spark_sql import merge_into, quoted, select_rows, text, type_text
from harness.scenario.statements import DATABASE, Sql

REPLACING: Final = " or replace"


def create_table(
    table: Table, using: str, location: str, properties: Iterable[tuple[str, str]], how: str = ""
) -> Sql:
    by = ", ".join(map(quoted, table.partition_by))
    listed = ", ".join(f"{text(name)} = {text(value)}" for name, value in properties)
    return Sql(
        f"create{how} table {DATABASE}.{TABLE} ({definition(table.columns)}) using {using}"
        f"{f' partitioned by ({by})' if by else ''} location '{location}'"
        f"{f' tblproperties ({listed})' if listed else ''}"
    )


def definition(columns: Iterable[tuple[str, DataType]]) -> str:
    return ", ".join(f"{quoted(name)} {type_text(type_)}" for name, type_ in columns)


def whole_rows(before: Truth, after: Truth) -> str:
    """Return an insert, or where some of the rows are there already, a merge by the key."""
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    table, source = f"{DATABASE}.{TABLE}", one_task(rows, after.schema.fields)
    if not any(row.key in before.rows for row in rows):
        return f"insert into {table} {source}"
    merge, _ = merge_into(table, source, after)
    return f"{merge} when matched then update set * when not matched then insert *"


def failed_rows(before: Truth, after: Truth) -> str:
    """Return the write of the rows that a write which is to fail would have made."""
    made = {row.key: row for row in after.failed}
    return whole_rows(before, replace(after, rows={**after.rows, **made}))


def one_task(rows: Sequence[Row], fields: Sequence[Field]) -> str:
    """Return a query for the rows, in one task: each task writes a file of its own."""
    return f"select /*+ coalesce(1) */ * from ({select_rows(rows, fields)})"
