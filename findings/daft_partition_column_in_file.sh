#!/usr/bin/env bash
# Daft 0.7.26: where a partition column is in the data file too, as Delta 4.4 writes it by default,
# the value of the file is shown and not that of the folder. DuckDB shows the folder's, and PyArrow
# refuses types that differ; so three libraries give three answers of one folder.
#
# Seen: p is 99 in Daft and 1 in DuckDB 2.0.1, in the folder p=1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib daft==0.7.26 duckdb==2.0.1 pyarrow==25.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
from pathlib import Path

import daft
import duckdb
import pyarrow as pa
from pyarrow import dataset, parquet

Path("t/p=1").mkdir(parents=True)
parquet.write_table(pa.table({"n": [7], "p": [99]}), "t/p=1/f.parquet")
by_daft = daft.read_parquet("t/**/*.parquet", hive_partitioning=True).to_pydict()
by_duckdb = duckdb.sql("from read_parquet('t/*/*.parquet', hive_partitioning = true)").fetchall()
try:
    dataset.dataset("t", partitioning="hive").to_table()
except pa.ArrowTypeError as refused:
    by_arrow = str(refused).partition(":")[0]
print(by_daft, by_duckdb, by_arrow)
assert by_daft == {"n": [7], "p": [99]}
assert by_duckdb == [(7, 1)]
assert by_arrow.startswith("Unable to merge"), "one type is int64, the other int32"
PYTHON
