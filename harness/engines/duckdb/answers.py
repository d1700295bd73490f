"""What DuckDB answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "location"}]}`: `location` is a folder.
Each database is attached with its one table; versions stand in the SQL.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

FILE: Final = "delta.duckdb_extension"
CONF: Final = {
    # What is not here is not fetched (DuckDB's manual, "Installing Extensions").
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
ZONE: Final = "set timezone = 'UTC'"
"""Times with a zone are counted in UTC, and shown in the session's (manual, "Timestamp Types")."""

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Ask a database of its own in memory, which knows the tables that are named with it."""
    package = import_module("duckdb")
    with package.connect(config=CONF) as connection:
        connection.execute(f"load {text(str(extension()))}")
        connection.execute(ZONE)
        for table in question["tables"]:
            connection.execute(attached(table))
        result: pyarrow.Table = connection.sql(question["statement"]).to_arrow_table()
    return result


def extension() -> Path:
    """Return the extension's file, which DuckDB loads if its own key has signed it."""
    package = Path(str(import_module("duckdb_extension_delta").__file__)).parent
    (file,) = package.glob(f"extensions/*/{FILE}")
    return file


def attached(table: Message) -> str:
    """Return how a table becomes known under its own name."""
    name = '"' + table["database"].replace('"', '""') + '"'
    options = f"type delta, internal_table_name {text(table['name'])}"
    return f"attach {text(table['location'])} as {name} ({options})"


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
