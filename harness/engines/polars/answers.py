"""What Polars answers, inside of its own process; see `harness.engines.python_worker`.

A table is `{"database", "name", "source"}`: `source` is what Polars scans, an Iceberg table's
metadata file or the folder of a Delta table. An expression knows that as the table, and Polars as
`pl`; its value is a data frame.
"""

from importlib import import_module
from typing import Any


def opened(table: dict[str, Any]) -> str:
    return str(table["source"])


writable = opened


def names() -> dict[str, Any]:
    return {"pl": import_module("polars")}
