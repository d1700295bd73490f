"""A plain Hive table of every type as a Parquet file, and entries of such tables in a metastore."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.model.canonical import MapValue, single
from harness.runtime import metastore_client
from harness.runtime.metastore_objects import CatalogEntry

IO = "org.apache.hadoop.hive.ql.io"
CLASSES = {
    "parquet": ("MapredParquetInputFormat", "MapredParquetOutputFormat", "serde.ParquetHiveSerDe"),
    "orc": ("OrcInputFormat", "OrcOutputFormat", "OrcSerde"),
}
"""Hive's input format, output format and serde of each kind of files."""
DAY = datetime.date(2024, 2, 29)
INSTANT = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - canonical: no zone

# name, Hive type, type of the file, value in the file, canonical type, canonical value
TYPES: tuple[tuple[str, str, pa.DataType, Any, str, Any], ...] = (
    ("b", "boolean", pa.bool_(), True, "boolean", True),
    ("ti", "tinyint", pa.int8(), 7, "tinyint", 7),
    ("i", "int", pa.int32(), 1, "int", 1),
    ("l", "bigint", pa.int64(), 2**53 + 1, "long", 2**53 + 1),
    ("r", "float", pa.float32(), 503002.1, "float", single(503002.1)),
    ("d", "double", pa.float64(), 0.1, "double", 0.1),
    ("inf", "double", pa.float64(), float("-inf"), "double", float("-inf")),
    (
        "n",
        "decimal(10,2)",
        pa.decimal128(10, 2),
        Decimal("1.10"),
        "decimal(10, 2)",
        Decimal("1.10"),
    ),
    ("s", "string", pa.string(), "x", "string", "x"),
    ("dt", "date", pa.date32(), DAY, "date", DAY),
    ("ts", "timestamp", pa.timestamp("us"), INSTANT, "timestamp", INSTANT),
    ("bin", "binary", pa.binary(), b"\x00\xff", "binary", b"\x00\xff"),
    (
        "st",
        "struct<a:int,n:struct<x:string,f:float>>",
        pa.struct([("a", pa.int32()), ("n", pa.struct([("x", pa.string()), ("f", pa.float32())]))]),
        {"a": 1, "n": {"x": "y", "f": 0.1}},
        "struct<a: int, n: struct<x: string, f: float>>",
        {"a": 1, "n": {"x": "y", "f": single(0.1)}},
    ),
    ("ar", "array<int>", pa.list_(pa.int32()), [1, None], "array<int>", (1, None)),
    (
        "m",
        "map<int,string>",
        pa.map_(pa.int32(), pa.string()),
        [(2, "b"), (1, None)],
        "map<int, string>",
        MapValue(((1, None), (2, "b"))),
    ),
    (
        "md",
        "map<date,array<bigint>>",
        pa.map_(pa.date32(), pa.list_(pa.int64())),
        [(DAY, [5])],
        "map<date, array<long>>",
        MapValue(((DAY, (5,)),)),
    ),
)


def write_types(folder: Path) -> None:
    """A file with a row of values and a row of NULLs, timestamps as Hive and Spark write them."""
    columns = {name: pa.array([value, None], in_file) for name, _, in_file, value, _, _ in TYPES}
    pq.write_table(pa.table(columns), folder / "f.parquet", use_deprecated_int96_timestamps=True)


def register(
    metastore_uri: str,
    database: str,
    name: str,
    columns: list[tuple[str, str]],
    folder: Path,
    files: str = "parquet",
) -> None:
    """Register a folder of files as an external table with these columns (Hive types)."""
    reads, writes, serde = (f"{IO}.{files}.{each}" for each in CLASSES[files])
    table = {
        "tableName": name,
        "owner": "test",
        "tableType": "EXTERNAL_TABLE",
        "partitionKeys": [],
        "parameters": {},
        "sd": {
            "cols": [{"name": column, "type": kind} for column, kind in columns],
            "location": "file:{location}",
            "inputFormat": reads,
            "outputFormat": writes,
            "compressed": False,
            "numBuckets": -1,
            "serdeInfo": {"serializationLib": serde, "parameters": {}},
            "bucketCols": [],
            "sortCols": [],
            "parameters": {},
        },
    }
    with metastore_client.connect(metastore_uri) as found:
        found.register(database, [CatalogEntry(name, table)], str(folder))
