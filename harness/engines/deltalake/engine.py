"""delta-rs as a reader of Delta tables: the protocol read by code of its own, in Rust.

It has no code in common with Delta's library for Spark, nor with Trino's connector. The questions
are SQL (`QueryBuilder`), which DataFusion plans and answers; columns and conditions go down to the
table's own scan.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.engines.deltalake import answers
from harness.engines.sql_library import SqlLibrary

BY_HAND: Final = (
    "-- In Python, with from deltalake import DeltaTable, QueryBuilder:",
    '--   builder = QueryBuilder().register("t", DeltaTable("FOLDER"))',
    '--   builder.execute(""" … """).read_all()  # below, with "t" alone as the table',
    '--   "t@v3" is DeltaTable("FOLDER", version=3)',
)
ENGINE = SqlLibrary("deltalake", Path(answers.__file__), BY_HAND)
