#!/usr/bin/env bash
# PyIceberg 0.12.0, as Iceberg's own library 1.12.0: where a table has files without field ids (by
# add_files), a renamed column loses their values to a new column of its old name. The table's name
# mapping takes the old name away from the renamed column and gives it to the new one. So old rows
# have the values of c under a, and every reader that goes by the mapping shows them there, without
# an error. In a table whose files have ids the values stay with their column.
#
# Seen: {id 1, c NULL, a 10}; the value 10 was c's. The mapping has a for the new column alone.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
import os

import pyarrow as pa
from pyarrow import parquet
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.types import LongType

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
rows = pa.table({"id": [1], "a": [10]})
parquet.write_table(rows, "plain.parquet")
shown = {}
for name in ("with_ids", "without"):
    table = catalog.create_table(f"n.{name}", rows.schema)
    if name == "without":
        table.add_files([f"file://{os.getcwd()}/plain.parquet"])
    else:
        table.append(rows)
    with table.update_schema() as update:
        update.rename_column("a", "c")
    with table.update_schema() as update:
        update.add_column("a", LongType())
    shown[name] = table.scan().to_arrow().to_pylist()
mapping = json.loads(table.properties["schema.name-mapping.default"])
print(shown, mapping)
assert shown["with_ids"] == [{"id": 1, "c": 10, "a": None}]
assert shown["without"] == [{"id": 1, "c": None, "a": 10}], "values go with the name"
assert [field["field-id"] for field in mapping if "a" in field["names"]] == [3]
PYTHON
