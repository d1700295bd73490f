#!/usr/bin/env bash
# Daft 0.7.26: a partition column that folders have alone gets the type of one folder's value, and
# which one is left to chance. Of p=1, p=01, p=a%2Fb and p=2020-01-01 it is a text, a number or a
# date, from one reading to the next in one process; values that do not fit that type are NULL.
#
# Seen in 60 readings: at least two of the types String, Int64 and Date, and NULL with the latter two.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib daft==0.7.26 pyarrow==25.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
from collections import defaultdict
from pathlib import Path

import daft
import pyarrow as pa
from pyarrow import parquet

for at, folder in enumerate(("p=1", "p=01", "p=a%2Fb", "p=2020-01-01")):
    Path("t", folder).mkdir(parents=True)
    parquet.write_table(pa.table({"n": [at]}), f"t/{folder}/f.parquet")
nulls: dict[str, set[int]] = defaultdict(set)
for _ in range(60):
    frame = daft.read_parquet("t/**/*.parquet", hive_partitioning=True)
    kind = str(frame.schema()["p"].dtype)
    nulls[kind].add(frame.to_pydict()["p"].count(None))
print(dict(nulls))
assert len(nulls) > 1, "one type in all readings: no longer left to chance"
assert any(0 not in counts for counts in nulls.values()), "NULL where the value does not fit"
PYTHON
