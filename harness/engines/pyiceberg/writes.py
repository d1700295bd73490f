"""What PyIceberg is told of a write: expressions on a `Table` that is called `table`. Pure.

Source: PyIceberg's manual, "Write to a table", "Upsert" and "Schema evolution".
"""

from typing import Final

from harness.engines.library_writes import LibraryWrites, TableWrite, arrow_table, expression
from harness.engines.pyiceberg.words import condition


def _delete(write: TableWrite) -> str:
    return f"table.delete({condition([write.gone])})" if write.gone else ""


def _upsert(write: TableWrite) -> str:
    return f"table.upsert({arrow_table(write)}, join_cols=[{expression(write.key)}])"


WRITES: Final[LibraryWrites] = {
    "insert": lambda write: f"table.append({arrow_table(write)})",
    "upsert": _upsert,
    "touch": _upsert,
    "update": _upsert,
    "delete": _delete,
    "delete_where": _delete,
    "truncate": lambda write: "table.delete(AlwaysTrue())",  # noqa: ARG005 - of any table
    "overwrite": lambda write: f"table.overwrite({arrow_table(write)})",
}
