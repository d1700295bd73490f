"""A table that a new server must be able to read before it counts as ready.

Seen with Trino 476: a server that answers `select 1` and `show schemas from hive` can still refuse
every table for some seconds with NO_NODES_AVAILABLE, until its coordinator has noticed (it looks
every 5 s) that its own worker has the catalogs. Only reading a table tells.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from uuid import uuid4

from harness.core.errors import EnvironmentProblem
from harness.runtime import metastore_client
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.metastore_objects import parquet_entry

DATABASE: Final = "harness_ready"


def make(metastore_uri: str, folder: Path) -> str:
    """Make a Hive Parquet table of one row in the new `folder`; gives its name in DATABASE.

    It stays in the metastore, which is the run's own.

    Raises:
        EnvironmentProblem: the metastore does not answer, or refuses the table.

    """
    # Imported here: it takes a while, and planning, judging and reporting do without.
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    folder.mkdir()
    parquet.write_table(pa.table({"id": [1]}), folder / "one.parquet")
    name = f"t_{uuid4().hex}"
    try:
        with metastore_client.connect(metastore_uri) as found:
            found.register(DATABASE, [parquet_entry(name, [("id", "bigint")])], str(folder))
    except CatalogRefusedError as refused:
        raise EnvironmentProblem(f"the metastore at {metastore_uri}: {refused}") from refused
    return name


def query(catalog_name: str, table: str) -> str:
    """Return the SQL that reads it. Pure."""
    return f'select id from "{catalog_name}"."{DATABASE}"."{table}"'
