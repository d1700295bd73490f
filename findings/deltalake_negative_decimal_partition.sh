#!/usr/bin/env bash
# deltalake 1.6.6: write_deltalake puts a negative decimal into the log's partition values with a
# second sign, -1.-50 for -1.50. It commits that, fails on it itself, and cannot read the table any
# more. A positive one is right.
#
# The protocol, "Partition Value Serialization", has the string representation of the number.
# Seen: partition value -1.-50 in the log; writing and reading fail and name that text.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib deltalake==1.6.6 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def write(folder: str, value: str) -> None:
    prices = pa.array([Decimal(value)], pa.decimal128(6, 2))
    write_deltalake(folder, pa.table({"id": [1], "price": prices}), partition_by=["price"])


def partition_values(folder: str) -> list[str]:
    logs = sorted(Path(folder, "_delta_log").glob("*.json"))
    actions = (json.loads(line) for log in logs for line in log.read_text().splitlines())
    return [action["add"]["partitionValues"]["price"] for action in actions if "add" in action]


def read(folder: str) -> list:
    builder = QueryBuilder().register("t", DeltaTable(folder))
    return pa.table(builder.execute("select * from t").read_all()).to_pylist()


write("positive", "1.50")
assert partition_values("positive") == ["1.50"]
assert read("positive") == [{"id": 1, "price": Decimal("1.50")}]
problems = []
for step in (lambda: write("negative", "-1.50"), lambda: read("negative")):
    try:
        step()
    except Exception as problem:
        problems.append(str(problem))
print(partition_values("negative"), problems)
assert partition_values("negative") == ["-1.-50"]
assert len(problems) == 2 and all("-1.-50" in problem for problem in problems)
PYTHON
