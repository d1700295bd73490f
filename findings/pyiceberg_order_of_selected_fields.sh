#!/usr/bin/env bash
# PyIceberg 0.12.0: the columns of a scan come in the order of the table's schema, not in that of
# selected_fields. Code that takes an answer's columns by position, as it may with SQL's select b, a,
# takes one for the other.
#
# Seen: selected_fields=("b", "a") gives the columns ['a', 'b'].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import os

import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
table = catalog.create_table("n.t", pa.schema([("a", pa.int64()), ("b", pa.int64())]))
table.append(pa.table({"a": [1], "b": [2]}))
columns = table.scan(selected_fields=("b", "a")).to_arrow().column_names
print(columns)
assert columns == ["a", "b"]
PYTHON
