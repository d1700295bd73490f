"""DuckDB as a reader of Delta tables, by its extension, which Delta's kernel in Rust plans for.

DuckDB reads the data files itself. The kernel tells it which there are, what becomes of their
columns, and which rows are gone; delta-rs is built on the same kernel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.engines.duckdb import answers
from harness.engines.sql_library import SqlLibrary

BY_HAND: Final = (
    "load delta;",
    "attach 'FOLDER' as \"DATABASE\" (type delta, internal_table_name 't');",
)
ENGINE = SqlLibrary("duckdb", Path(answers.__file__), BY_HAND)
