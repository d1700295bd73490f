#!/usr/bin/env bash
# PyIceberg 0.12.0: a list of structs that is NULL is written, and read, as an empty list; a list of
# numbers that is NULL stays so. The specification knows both: a list may be optional, and NULL is not
# empty ("Nested Types"). PyArrow shows what is in the files.
#
# Seen: `ArrowProjectionVisitor.list` makes the list anew of its offsets, without what is NULL; both
# `append` and a scan call it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import os

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.memory import InMemoryCatalog

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
of_structs = pa.list_(pa.struct([("x", pa.int32())]))
schema = pa.schema([("structs", of_structs), ("numbers", pa.list_(pa.int32()))])
rows = pa.table({"structs": [None], "numbers": [None]}, schema=schema)
lost, right = [{"structs": [], "numbers": None}], [{"structs": None, "numbers": None}]

appended = catalog.create_table("n.appended", schema)
appended.append(rows)
(path,) = [task.file.file_path.removeprefix("file://") for task in appended.scan().plan_files()]
written = pq.read_table(path).to_pylist()
print("appended, in the file:", written)

added = catalog.create_table("n.added", schema)
pq.write_table(rows, "plain.parquet")
added.add_files([f"{os.getcwd()}/plain.parquet"])
stored, read = pq.read_table("plain.parquet").to_pylist(), added.scan().to_arrow().to_pylist()
print("added, in the file:", stored, "and read:", read)
assert (written, stored, read) == (lost, right, lost)
PYTHON
