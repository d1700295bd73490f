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
    # Sizes are looked at after each row, instead of 100.
    small=(("parquet.block.size", "1"), ("parquet.page.size.row.check.min", "1")),
)
