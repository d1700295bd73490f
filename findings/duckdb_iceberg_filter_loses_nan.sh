#!/usr/bin/env bash
# DuckDB 1.5.5 with its extension for Iceberg: a filter for NaN loses the rows of a file that has
# other numbers too. The bounds in Iceberg's manifests leave NaN out, as its specification says, and
# DuckDB skips the file by them, although NaN is the greatest number to it: f > 0.5 finds both rows,
# and so does isnan(f).
#
# Seen: f = 'nan' finds row 3, isnan(f) rows 1 and 3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1 duckdb==1.5.5 duckdb-extension-avro==1.5.5 duckdb-extension-iceberg==1.5.5
PYTHONPATH=lib python3 - <<'PYTHON'
import os
from importlib import import_module
from pathlib import Path

import duckdb
import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
table = catalog.create_table("n.t", pa.schema([("id", pa.int64()), ("f", pa.float64())]))
table.append(pa.table({"id": [1, 2], "f": [float("nan"), 1.0]}))
table.append(pa.table({"id": [3], "f": [float("nan")]}))
for name in ("avro", "iceberg"):
    package = Path(import_module(f"duckdb_extension_{name}").__file__).parent
    (file,) = package.glob(f"extensions/*/{name}.duckdb_extension")
    duckdb.sql(f"load '{file}'")
scan = f"iceberg_scan('{table.metadata_location.removeprefix('file://')}')"


def ids(condition: str) -> list[int]:
    rows = duckdb.sql(f"select id from {scan} where {condition} order by id").fetchall()
    return [id_ for (id_,) in rows]


print(ids("f = 'nan'::double"), ids("isnan(f)"), ids("f > 0.5"))
assert ids("f = 'nan'::double") == [3], "row 1 is NaN as well"
assert ids("isnan(f)") == [1, 3]
assert ids("f > 0.5") == [1, 2, 3]
PYTHON
