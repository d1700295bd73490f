#!/usr/bin/env bash
# PyArrow 26.0.1: of a folder whose first file has a column as date and whose second has it as
# timestamp, the second's time of day is dropped without an error. Where a fraction would be dropped
# in the same way (int, then double 2.5), PyArrow refuses.
#
# Seen: 2024-01-02 for 2024-01-02 03:04:05, and ArrowInvalid for 2.5.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

for folder in ("moments", "numbers"):
    Path(folder).mkdir()
moment = pa.array([datetime(2024, 1, 2, 3, 4, 5)], pa.timestamp("us"))
parquet.write_table(pa.table({"x": [date(2024, 1, 1)]}), "moments/1.parquet")
parquet.write_table(pa.table({"x": moment}), "moments/2.parquet")
parquet.write_table(pa.table({"x": [1]}), "numbers/1.parquet")
parquet.write_table(pa.table({"x": [2.5]}), "numbers/2.parquet")
days = parquet.read_table("moments")["x"].to_pylist()
print(days)
assert days == [date(2024, 1, 1), date(2024, 1, 2)]
try:
    parquet.read_table("numbers")
except pa.ArrowInvalid as refused:
    print(refused)
else:
    raise SystemExit("int and double are read together now")
PYTHON
