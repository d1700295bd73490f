"""How whole rows are written to tables that know no keys: a merge says what is replaced. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.model.identifiers import TABLE
from harness.model.schema import Field
from harness.model.truth import Row, Truth
from harness.scenario.operations.spark_sql import merge_into, select_rows
from harness.scenario.statements import DATABASE


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
