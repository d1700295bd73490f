"""`add_files`: new rows in plain files, which become part of the table as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.model.truth import Truth
from harness.scenario.operations.api import Example, Family, Statements, StepContext
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.new_rows import rows_text
from harness.scenario.operations.procedures import call_iceberg
from harness.scenario.operations.spark_sql import columns_in_order, select_rows
from harness.scenario.statements import LOCATION, Sql

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
        return (select_rows(self._new(before), columns_in_order(after)),)

    def statements(self, context: StepContext) -> Statements:
        """Return the making of a folder of plain files, and the call that adds them."""
        (query,) = self.sql(context.before, context.after)
        folder = f"{LOCATION}/{ADDED}/{context.after.step}"
        into = f"insert overwrite directory '{folder}' using parquet"
        write = Sql(f"{into} select /*+ coalesce(1) */ * from ({query})", commits=False)
        return write, call_iceberg("add_files", f"source_table => '`parquet`.`{folder}`'")
