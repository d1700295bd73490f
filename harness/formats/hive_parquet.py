"""Plain Hive tables of Parquet files."""

from __future__ import annotations

from harness.formats import parquet
from harness.formats.hive_files import HiveFiles

FORMAT = HiveFiles(
    "hive-parquet",
    "parquet",
    parquet.read,
    # Decimals as Hive's own reader expects them.
    (("spark.sql.parquet.writeLegacyFormat", "true"),),
    # Sizes are looked at after each row, instead of 100; an insert makes one file, where otherwise
    # two tasks share its rows and a file of an insert of two rows has one.
    small=(
        ("parquet.block.size", "1"),
        ("parquet.page.size.row.check.min", "1"),
        ("spark.sql.leafNodeDefaultParallelism", "1"),
    ),
)
