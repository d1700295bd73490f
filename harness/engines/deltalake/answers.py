"""What delta-rs answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "location", "version"}]}`: `location`
is a folder, `version` a number or null for the newest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Ask a builder of queries of its own, which knows the tables that are named with it."""
    import pyarrow as pa  # noqa: PLC0415 - of the engine's packages

    package = import_module("deltalake")
    builder = package.QueryBuilder()
    for database in dict.fromkeys(entry["database"] for entry in question["tables"]):
        builder.execute(f"create schema {quoted(database)}").read_all()
    for table in question["tables"]:
        name = f"{quoted(table['database'])}.{quoted(table['name'])}"
        builder.register(name, package.DeltaTable(table["location"], version=table["version"]))
    return pa.table(builder.execute(question["statement"]).read_all())


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
