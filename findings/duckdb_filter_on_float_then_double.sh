#!/usr/bin/env bash
# DuckDB 1.5.5 and 2.0.1: of a folder with a file of float 0.1 and one of double 0.1, x = 0.1 finds
# other rows in each release, and neither finds what its own answer without the filter shows. Without
# union_by_name the type is that of the first file, float: both rows are shown as the float 0.1, 1.5.5
# finds one of them and 2.0.1 both. With it the type is double: 1.5.5 finds both rows, although the
# first is shown as 0.10000000149011612, and 2.0.1 only the second.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 1.5.5 2.0.1; do
  python3 -m pip install --quiet --disable-pip-version-check --target "$version" \
    "duckdb==$version" pyarrow==26.0.1
  PYTHONPATH=$version python3 - "$version" <<'PYTHON'
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import parquet

Path("t").mkdir(exist_ok=True)
parquet.write_table(pa.table({"x": pa.array([0.1], pa.float32())}), "t/1.parquet")
parquet.write_table(pa.table({"x": pa.array([0.1], pa.float64())}), "t/2.parquet")
single = 0.10000000149011612


def rows(union: str, condition: str) -> list[float]:
    files = f"read_parquet('t/*.parquet', union_by_name = {union})"
    return [x for (x,) in duckdb.sql(f"select x from {files} where {condition}").fetchall()]


shown = [rows(union, "true") for union in ("false", "true")]
seen = [rows(union, "x = 0.1") for union in ("false", "true")]
print(sys.argv[1], shown, seen)
assert shown == [[single, single], [single, 0.1]]
expected = {"1.5.5": [[single], [single, 0.1]], "2.0.1": [[single, single], [0.1]]}
assert seen == expected[sys.argv[1]]
PYTHON
done
