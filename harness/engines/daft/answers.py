"""What Daft answers, inside of its own process; see `harness.engines.python_worker`.

A question is

    {"statement", "tables": [{"name", "family", "source", "past", "partitioned"}]}

`source` is the metadata file of an Iceberg table, or a folder; `past` a snapshot or a version, or
null. The SQL knows each frame by the one name `database.table`. The expression of a write knows the
folder of a Delta table as `table`, and `daft`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

FILES: Final = "/**/[!._]*"
"""Hive names its files without an ending; names with a dot or a line before them are no data."""
Message = dict[str, Any]


def ask(question: Message) -> pyarrow.Table:
    frames = {table["name"]: frame(table) for table in question["tables"]}
    result: pyarrow.Table = import_module("daft").sql(question["statement"], **frames).to_arrow()
    return result


def frame(table: Message) -> Any:  # noqa: ANN401 - a DataFrame of Daft
    daft, source, past = import_module("daft"), table["source"], table["past"]
    match table["family"]:
        case "iceberg":
            static = import_module("pyiceberg.table").StaticTable.from_metadata(source)
            return daft.read_iceberg(static, snapshot_id=int(past) if past else None)
        case "delta":
            return daft.read_deltalake(source, version=int(past) if past else None)
    return daft.read_parquet(source + FILES, hive_partitioning=table["partitioned"])


def writable(table: Message) -> str:
    return str(table["source"])


def names() -> Message:
    return {"daft": import_module("daft")}
