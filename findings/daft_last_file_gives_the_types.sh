#!/usr/bin/env bash
# Daft 0.7.26: of a folder of Parquet files the last one gives the types, without a word. A number
# of 64 bits in the first file that does not fit into the 32 bits of the last one is shown as NULL,
# a fraction loses its digits, and a column that the last file lacks is gone. With the files in the
# other order all is right. DuckDB with union_by_name takes the wider type of both.
#
# Seen: [None, 10], [2, 2] and no column c; DuckDB 2.0.1 shows 3000000000, 2.5 and c.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib daft==0.7.26 pyarrow==25.0.1 duckdb==2.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
from pathlib import Path

import daft
import duckdb
import pyarrow as pa
from pyarrow import parquet

wide = pa.table({"n": pa.array([3000000000], pa.int64()), "x": [2.5], "c": ["there"]})
narrow = pa.table({"n": pa.array([10], pa.int32()), "x": pa.array([2], pa.int32())})
Path("t").mkdir()
parquet.write_table(wide, "t/a.parquet")
parquet.write_table(narrow, "t/b.parquet")
folder = daft.read_parquet("t/*.parquet")
shown = folder.sort("x").select("n", "x").to_pydict()
union = "from read_parquet('t/*.parquet', union_by_name = true) order by n desc"
by_duckdb = duckdb.sql(f"select n, x, c {union}").fetchall()
parquet.write_table(wide, "t/c.parquet")
Path("t/a.parquet").unlink()
other_order = daft.read_parquet("t/*.parquet").sort("n").to_pydict()
print(folder.column_names, shown, by_duckdb, other_order)
assert folder.column_names == ["n", "x"], "c is not there"
assert set(shown["n"]) == {None, 10}
assert shown["x"] == [2, 2]
assert by_duckdb == [(3000000000, 2.5, "there"), (10, 2.0, None)]
assert other_order == {"n": [10, 3000000000], "x": [2.0, 2.5], "c": [None, "there"]}
PYTHON
