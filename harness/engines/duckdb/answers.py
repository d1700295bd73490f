"""What DuckDB answers, inside of its own process; see `harness.engines.python_worker`.

A question is

    {"statement", "conf": {…}, "tables": [{"database", "name", "family", "source", …}]}

`source` is the folder of a Delta table, which is attached as a database of its own; versions stand
in the SQL. It is the metadata file of an Iceberg table, with the `snapshot` to read or null, or the
folder of plain Parquet files, with the types of its `keys`. Both become views. The
expression of a write has a `table` that can `run` SQL, in which it is called `TARGET` and rows of
Arrow `SENT`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

EXTENSIONS: Final = {
    "delta": ("delta",),
    "iceberg": ("avro", "iceberg"),
    "rest": ("avro", "httpfs", "iceberg"),
}
"""In the order in which they are loaded: that for Iceberg needs the others."""
TARGET: Final = '"written"."database"."t"'
SENT: Final = '"sent"'
CONF: Final = {
    # What is not here is not fetched (DuckDB's manual, "Installing Extensions").
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # No content of a file outlives its question (DuckDB's manual, "Configuration").
    "enable_external_file_cache": "false",
}
ZONE: Final = "set timezone = 'UTC'"
"""Times with a zone are counted in UTC, and shown in the session's (manual, "Timestamp Types")."""

FILES: Final = "/**/[!._]*"
"""Hive names its files without an ending; names with a dot or a line before them are no data."""

Message = dict[str, Any]


class LoadedDatabase(local):
    """What is kept for a connection: DuckDB with the extensions it has loaded, and no table."""

    database: Any = None
    loaded: frozenset[str] = frozenset()


LOADED: Final = LoadedDatabase()


def ask(question: Message) -> pyarrow.Table:
    """Ask a database in memory, which knows the tables that are named with it until the answer.

    To load an extension takes a hundred times longer than a question.
    """
    if LOADED.database is None:
        LOADED.database, LOADED.loaded = import_module("duckdb").connect(config=CONF), frozenset()
    try:
        with LOADED.database.cursor() as connection:
            return answered(connection, question)
    finally:
        forget(question)


class TargetTable:
    """A table that is written to, by a database in memory of which nothing is kept.

    `metadata_location`: what a catalog is to name, of a table of Iceberg; empty before it is made.
    """

    def __init__(self, table: Message) -> None:
        self.table = table
        self.metadata_location = table["source"] if table["family"] == "iceberg" else ""

    def run(self, statement: str, rows: pyarrow.Table | None = None) -> None:
        with ExitStack() as open_, import_module("duckdb").connect(config=CONF) as connection:
            connection.execute(ZONE)
            target, one = TARGET, None
            if self.table["family"] == "delta":
                load(connection, "delta", frozenset())
                target = f"{identifier(self.table['database'])}.{identifier(self.table['name'])}"
                connection.execute(*known(self.table, {}))
            else:
                load(connection, "rest", frozenset())
                catalog = import_module("rest_catalog")
                one = catalog.OneTable(self.metadata_location)
                address = open_.enter_context(catalog.serving(one))
                options = f"type iceberg, endpoint '{address}', authorization_type 'none'"
                connection.execute(f"attach '' as written ({options})")
            if rows is not None:
                connection.register(SENT.strip('"'), rows)
            connection.execute(statement.replace(TARGET, target))
            if one:
                self.metadata_location = one.location


writable = TargetTable


def names() -> Message:
    return {}


def answered(connection: Any, question: Message) -> pyarrow.Table:  # noqa: ANN401
    connection.execute(ZONE)
    for table in question["tables"]:
        LOADED.loaded |= load(connection, table["family"], LOADED.loaded)
        for statement in known(table, question["conf"]):
            connection.execute(statement)
    return arrow(connection.sql(question["statement"]))


def arrow(answer: Any) -> pyarrow.Table:  # noqa: ANN401 - a relation of DuckDB
    """Return an answer as a table; variants, for which DuckDB makes none of Arrow's, as JSON."""
    import pyarrow as pa  # noqa: PLC0415 - as DuckDB

    pairs = enumerate(zip(answer.columns, answer.types))  # noqa: B905 - of one length
    variants = {at: name for at, (name, type_) in pairs if str(type_) == "VARIANT"}
    if not variants:
        return answer.to_arrow_table()
    # A variant's own NULL is a text as JSON, and NULL to DuckDB.
    forms = (
        f"case when {name} is not null then {name}::json::varchar end as {name}"
        for name in map(identifier, variants.values())
    )
    table = answer.project(f"* replace ({', '.join(forms)})").to_arrow_table()
    for at, name in variants.items():
        texts = table.column(at).cast(pa.opaque(pa.string(), "variant", "duckdb"))
        table = table.set_column(at, name, texts)
    return table


def forget(question: Message) -> None:
    """Take the tables out; a database that an error has broken is given up."""
    try:
        with LOADED.database.cursor() as connection:
            for table in question["tables"]:
                name = identifier(table["database"])
                delta = table["family"] == "delta"
                out = (
                    f"detach database if exists {name}"
                    if delta
                    else f"drop schema if exists {name} cascade"
                )
                connection.execute(out)
    except Exception:  # noqa: BLE001 - whatever it is, nothing may stay
        LOADED.database = None


def load(connection: Any, family: str, loaded: frozenset[str]) -> frozenset[str]:  # noqa: ANN401
    """Load the extensions for a family that are there; DuckDB loads what its own key has signed."""
    for name in EXTENSIONS.get(family, ()):
        spec = find_spec(f"duckdb_extension_{name}")
        if name in loaded or spec is None or not spec.origin:
            continue
        (file,) = Path(spec.origin).parent.glob(f"extensions/*/{name}.duckdb_extension")
        connection.execute(f"load {text(str(file))}")
        loaded |= {name}
    return loaded


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
