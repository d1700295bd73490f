#!/usr/bin/env bash
# PyIceberg 0.12.0: a filter on an older snapshot is bound to the columns that the table has now,
# while the rows are shown under the columns of then. Here column d was dropped and b got its name.
# So a row of the first snapshot that is shown with d = 100 is not found by d = 100; it is found by
# d = 10, the value of b. Iceberg's documentation ("Schema selection in time travel queries") has
# the columns of the snapshot, and Polars 2.1.0 filters by these.
#
# Seen: 0 rows with d = 100, 1 row with d = 10, and Polars the other way round.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1 polars==2.1.0
PYTHONPATH=lib python3 - <<'PYTHON'
import os

import polars as pl
import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
columns = pa.schema([("id", pa.int64()), ("b", pa.int64()), ("d", pa.int64())])
table = catalog.create_table("n.t", columns)
table.append(pa.table({"id": [1], "b": [10], "d": [100]}))
first = table.current_snapshot().snapshot_id
with table.update_schema() as update:
    update.delete_column("d")
with table.update_schema() as update:
    update.rename_column("b", "d")
table.append(pa.table({"id": [2], "d": [20]}))


def found(filter_: str) -> list[dict]:
    return table.scan(filter_, snapshot_id=first).to_arrow().to_pylist()


def found_by_polars(value: int) -> list[dict]:
    scan = pl.scan_iceberg(table.metadata_location, snapshot_id=first)
    return scan.filter(pl.col("d") == value).collect().to_dicts()


shown = table.scan(snapshot_id=first).to_arrow().to_pylist()
print(shown, found("d = 100"), found("d = 10"), found_by_polars(100), found_by_polars(10))
assert shown == found("d = 10") == found_by_polars(100) == [{"id": 1, "b": 10, "d": 100}]
assert found("d = 100") == found_by_polars(10) == []
PYTHON
