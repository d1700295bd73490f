"""What delta-rs answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "location", "version"}]}`: `location`
is a folder, `version` a number or null for the newest. `statement` is SQL; an expression knows the
tables as DeltaTables, and `write_deltalake` and `DeltaTable`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - of the engine's packages

    builder = import_module("deltalake").QueryBuilder()
    tables = question["tables"]
    for database in dict.fromkeys(table["database"] for table in tables):
        builder.execute(f"create schema {quoted(database)}").read_all()
    for table in tables:
        name = f"{quoted(table['database'])}.{quoted(table['name'])}"
        builder.register(name, opened(table))
    return pa.table(builder.execute(question["statement"]).read_all())


def opened(table: Message) -> Any:  # noqa: ANN401 - a DeltaTable
    return import_module("deltalake").DeltaTable(table["location"], version=table["version"])


def writable(table: Message) -> Any:  # noqa: ANN401 - a DeltaTable, or the folder of none
    there = import_module("deltalake").DeltaTable.is_deltatable(table["location"])
    return opened(table) if there else table["location"]


def names() -> Message:
    library = import_module("deltalake")
    return {name: getattr(library, name) for name in ("DeltaTable", "write_deltalake")}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
