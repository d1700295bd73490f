"""`add_files`: new rows in plain files, which become part of the table as they are."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.new_rows import rows_text
from harness.scenario.operations.spark_sql import columns_in_order, select_rows


@dataclass(frozen=True, slots=True)
class AddFiles(Insert):
    """Insert rows by files of Parquet whose columns have no field ids, as Hive writes them."""

    def text(self) -> str:
        """Say it in a few words."""
        return f"add a plain file of {rows_text(len(self.keys) + len(self.rows))}"

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the query that yields the rows; the format writes them and adds the files."""
        return (select_rows(self._new(before), columns_in_order(after)),)
