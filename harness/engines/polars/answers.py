"""What Polars answers, inside of its own process; see `harness.engines.python_worker`.

A question is `{"statement", "tables": [{"database", "name", "source"}]}`: `source` is what Polars
scans, an Iceberg table's metadata file or the folder of a Delta table. `statement` is an expression
whose value is a data frame. It knows Polars as `pl`, `table(database, name)`, which returns that
source, `Decimal`, `date` and `datetime`. A write is `{"write", "table": {"source"}}`: an expression
that knows the folder of a Delta table as `source`, Arrow as `pa`, and Polars.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    """Evaluate an expression that knows the tables which are named with it."""
    sources = {(table["database"], table["name"]): table["source"] for table in question["tables"]}

    def table(database: str, name: str) -> str:
        if (database, name) not in sources:
            raise LookupError(f"the metastore has no table {database}.{name}")
        return str(sources[database, name])

    scope = {
        "pl": import_module("polars"),
        "table": table,
        "Decimal": Decimal,
        "date": date,
        "datetime": datetime,
    }
    frame = eval(question["statement"], scope)  # noqa: S307 - it comes from who knows the token
    result: pyarrow.Table = frame.to_arrow()
    return result


def write(question: Message) -> pyarrow.Table:
    import pyarrow as pa  # noqa: PLC0415 - of the engine's packages

    scope = {
        "pl": import_module("polars"), "source": question["table"]["source"],
        "pa": pa, "Decimal": Decimal, "date": date, "datetime": datetime,
    }  # fmt: skip
    eval(question["write"], scope)  # noqa: S307 - it comes from who knows the token
    return pa.table({})
