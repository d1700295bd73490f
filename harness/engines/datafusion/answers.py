"""What DataFusion answers, inside of its own process; see `harness.engines.python_worker`.

A question is

    {"statement", "conf": {…}, "tables": [{"name", "location", "options"} or …, "schema", "keys"]}]}

A table with `options` is Hudi's. Another one is a folder of Parquet files: `schema` is that of
Arrow in its own format, as base64, and so are `keys`, of the columns that the names of folders
hold.
"""

from __future__ import annotations

import base64
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Ask in a context of its own, which knows the tables that are named with the question."""
    package = import_module("datafusion")
    conf = package.SessionConfig()
    for key, value in question["conf"].items():
        conf = conf.set(key, value)
    context = package.SessionContext(conf)
    for schema in {entry["name"].rpartition(".")[0] for entry in question["tables"]}:
        context.sql(f"create schema {schema}")
    for table in question["tables"]:
        register(context, table)
    result: pyarrow.Table = context.sql(question["statement"]).to_arrow_table()
    return result


def register(context: Any, table: Message) -> None:  # noqa: ANN401 - a SessionContext
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    if "options" in table:
        source = import_module("hudi").HudiDataFusionDataSource
        options = [*table["options"].items()]
        context.register_table(table["name"], source(table["location"], options))
        return
    schema, keys = (
        pa.ipc.read_schema(pa.py_buffer(base64.b64decode(table[part])))
        for part in ("schema", "keys")
    )
    partitions = [(key.name, key.type) for key in keys]
    # Not `register_listing_table`: it goes by no settings of the session.
    context.register_parquet(
        table["name"], table["location"], table_partition_cols=partitions, schema=schema
    )
