#!/usr/bin/env bash
# Daft 0.7.26: -0.0 is less than 0.0 and does not equal it, so x = 0.0 misses the row of -0.0 and
# x < 0.0 finds it. To SQL, IEEE 754, Spark, DuckDB and Polars both are one number.
#
# Seen: x = 0.0 finds [0.0], x < 0.0 finds [-0.0].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib daft==0.7.26 pyarrow==25.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import daft
import pyarrow as pa
from pyarrow import parquet

parquet.write_table(pa.table({"x": [-0.0, 0.0, 1.0]}), "f.parquet")
frame = daft.read_parquet("f.parquet")
equal = frame.where(daft.col("x") == 0.0).to_pydict()["x"]
less = frame.where(daft.col("x") < 0.0).to_pydict()["x"]
print(equal, less)
assert list(map(str, equal)) == ["0.0"]
assert list(map(str, less)) == ["-0.0"]
PYTHON
