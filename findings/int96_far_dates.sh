#!/usr/bin/env bash
# PyArrow 26.0.1 and Polars 2.1.0: timestamps of 96 bits, which Spark still writes by default, that
# nanoseconds of 64 bits do not reach (1677 to 2262) come back as other moments, without an error. So
# does 9999-12-31, the usual "for ever": 1816-03-29 to PyArrow, 2262-04-11 to Polars, which shows the
# year 1500 as 2262-04-11 too. PyArrow is right if it is told coerce_int96_timestamp_unit="us".
#
# Files that PyArrow writes by default do not show it: they carry Arrow's own schema, whose unit is
# then taken. Hence store_schema=False, as files of Spark and Hive are.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib pyarrow==26.0.1 polars==2.1.0
PYTHONPATH=lib python3 - <<'PYTHON'
from datetime import datetime

import polars as pl
import pyarrow as pa
from pyarrow import parquet

moments = [datetime(9999, 12, 31), datetime(1500, 1, 1), datetime(2024, 1, 1)]
table = pa.table({"t": pa.array(moments, pa.timestamp("us"))})
parquet.write_table(
    table, "f.parquet", use_deprecated_int96_timestamps=True, store_schema=False
)
by_arrow = parquet.read_table("f.parquet")["t"].cast(pa.timestamp("us"), safe=False).to_pylist()
in_us = parquet.read_table("f.parquet", coerce_int96_timestamp_unit="us")["t"].to_pylist()
by_polars = pl.read_parquet("f.parquet")["t"].cast(pl.Datetime("us")).to_list()
for days in (by_arrow, in_us, by_polars):
    print([str(moment.date()) for moment in days])
assert [str(moment.date()) for moment in by_arrow] == ["1816-03-29", "2084-07-20", "2024-01-01"]
assert in_us == moments
assert [str(moment.date()) for moment in by_polars] == ["2262-04-11", "2262-04-11", "2024-01-01"]
PYTHON
