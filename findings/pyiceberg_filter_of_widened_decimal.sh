#!/usr/bin/env bash
# PyIceberg 0.12.0: after decimal(9, 2) became decimal(18, 2), a filter with a value that the old type
# could not hold is refused, although the scan without it works. The specification allows the change
# ("Schema Evolution": a wider precision) and promises that old files are read.
#
# Seen: ArrowInvalid: Decimal type with precision 13 does not fit into precision inferred from first
# array element: 9.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import os
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.expressions import LessThan
from pyiceberg.types import DecimalType

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
schema = pa.schema([("d", pa.decimal128(9, 2))])
table = catalog.create_table("n.t", schema)
table.append(pa.table({"d": [Decimal("1234567.89")]}, schema=schema))
with table.update_schema() as update:
    update.update_column("d", DecimalType(18, 2))
assert table.scan().to_arrow().to_pylist() == [{"d": Decimal("1234567.89")}]
try:
    rows = table.scan(LessThan("d", Decimal("12345678901.23"))).to_arrow().to_pylist()
except pa.ArrowInvalid as refused:
    print(refused)
    assert "precision 13 does not fit into precision inferred from first array" in str(refused)
else:
    raise SystemExit(f"it answers now: {rows}")
PYTHON
