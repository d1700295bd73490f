"""Plain Hive tables of Parquet files."""

from __future__ import annotations

from harness.formats import parquet
from harness.formats.hive_files import HiveFiles

# Decimals as Hive's own reader expects them.
FORMAT = HiveFiles(
    "hive-parquet", "parquet", parquet.read, (("spark.sql.parquet.writeLegacyFormat", "true"),)
)
