"""What DuckDB answers, inside of its own process; see `harness.engines.python_worker`.

A question is

    {"statement", "conf": {…}, "tables": [{"database", "name", "family", "source", …}]}

`source` is the folder of a Delta table, which is attached as a database of its own; versions stand
in the SQL. It is the metadata file of an Iceberg table, with the `snapshot` to read or null, or the
folder of plain Parquet files, with the types of its `keys`. Both become views.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

EXTENSIONS: Final = ("delta", "avro", "iceberg")
"""In the order in which they are loaded: that for Iceberg needs Avro's."""
CONF: Final = {
    # What is not here is not fetched (DuckDB's manual, "Installing Extensions").
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
ZONE: Final = "set timezone = 'UTC'"
"""Times with a zone are counted in UTC, and shown in the session's (manual, "Timestamp Types")."""

FILES: Final = "/**/[!._]*"
"""Hive names its files without an ending; names with a dot or a line before them are no data."""

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Ask a database of its own in memory, which knows the tables that are named with it."""
    package = import_module("duckdb")
    with package.connect(config=CONF) as connection:
        for file in extensions():
            connection.execute(f"load {text(str(file))}")
        connection.execute(ZONE)
        for table in question["tables"]:
            for statement in known(table, question["conf"]):
                connection.execute(statement)
        result: pyarrow.Table = connection.sql(question["statement"]).to_arrow_table()
    return result


def extensions() -> list[Path]:
    """Return the files of those that are there; DuckDB loads what its own key has signed."""
    return [
        file
        for name in EXTENSIONS
        if (spec := find_spec(f"duckdb_extension_{name}")) and spec.origin
        for file in Path(spec.origin).parent.glob(f"extensions/*/{name}.duckdb_extension")
    ]


def known(table: Message, conf: Mapping[str, str]) -> list[str]:
    """Return how a table becomes known under its own name."""
    database, source = identifier(table["database"]), text(table["source"])
    if table["family"] == "delta":
        options = f"type delta, internal_table_name {text(table['name'])}"
        return [f"attach {source} as {database} ({options})"]
    if table["family"] == "iceberg":
        snapshot = f", snapshot_from_id = {table['snapshot']}" if table["snapshot"] else ""
        rows = f"iceberg_scan({source}{snapshot})"
    else:
        keys = ", ".join(f"{text(key)}: {type_}" for key, type_ in table["keys"].items())
        options = f"hive_partitioning = {bool(keys)}".lower()
        options += f", hive_types = {{{keys}}}" if keys else ""
        options += "".join(f", {option} = {value}" for option, value in conf.items())
        rows = f"read_parquet({text(table['source'] + FILES)}, {options})"
    view = f"{database}.{identifier(table['name'])}"
    return [f"create schema {database}", f"create view {view} as select * from {rows}"]


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
