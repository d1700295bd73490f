#!/usr/bin/env bash
# DataFusion 55.0.0: in a folder of partitions as Hive makes it, the partition of NULL,
# p=__HIVE_DEFAULT_PARTITION__, is that text. So "p is null" finds no row, and p <> 'x' finds one that
# it must not. Hive, Spark and PyArrow read NULL there.
#
# Seen: p is '__HIVE_DEFAULT_PARTITION__', 0 rows with p is null; PyArrow reads None.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib datafusion==55.0.0 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
from pathlib import Path

import datafusion
import pyarrow as pa
from pyarrow import dataset, parquet

for folder in ("p=x", "p=__HIVE_DEFAULT_PARTITION__"):
    Path("t", folder).mkdir(parents=True)
    parquet.write_table(pa.table({"n": [1]}), Path("t", folder, "f.parquet"))
context = datafusion.SessionContext()
context.register_parquet("t", "t", table_partition_cols=[("p", pa.string())])
values = context.sql("select p from t order by p").to_arrow_table()["p"].to_pylist()
counted = context.sql("select count(*) as c from t where p is null").to_arrow_table()["c"]
by_arrow = dataset.dataset("t", partitioning="hive").to_table()["p"].to_pylist()
print(values, counted.to_pylist(), by_arrow)
assert values == ["__HIVE_DEFAULT_PARTITION__", "x"]
assert counted.to_pylist() == [0]
assert by_arrow == [None, "x"]
PYTHON
