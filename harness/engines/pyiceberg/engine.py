"""PyIceberg as a reader of Iceberg tables: the specification read by code of its own.

It has hardly any code in common with Iceberg's library for Java, by which Spark, Hive and Trino
read, and neither Java nor SQL. It asks no catalog here: the metastore is asked for the metadata
file of a table, and PyIceberg opens that (`StaticTable`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.engines.api import PointInTime
from harness.engines.pyiceberg import answers, python_text
from harness.engines.python_library import Description, Entry, PythonLibrary

POINTER: Final = "metadata_location"
"""The parameter of an entry that names the metadata file (Iceberg's `BaseMetastoreTableOperations`,
METADATA_LOCATION_PROP)."""
BY_HAND: Final = (
    "-- In Python:",
    "--   import pyarrow.compute as pc",
    "--   from decimal import Decimal",
    "--   from pyiceberg.expressions import *",
    "--   from pyiceberg.table import StaticTable",
    f"--   metadata = 'METADATA'  # the table's parameter {POINTER} in the metastore",
    "--   def table(database, name): return StaticTable.from_metadata(metadata)",
)


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    """Return what the worker is given of a table; a snapshot stands in the expression."""
    del past
    metadata = entry.parameters.get(POINTER, "")
    return {"database": database, "name": name, "metadata": metadata}


ENGINE: Final = PythonLibrary(
    "pyiceberg",
    Path(answers.__file__),
    ("iceberg",),
    python_text.statement,
    describe,
    lambda settings, format_: BY_HAND,  # noqa: ARG005 - the same for all
    python_text.TIME_TRAVEL,
    first="1",
)
