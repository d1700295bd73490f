#!/usr/bin/env bash
# Daft 0.7.26: DataFrame.write_deltalake appends to a table with column mapping by name files whose
# columns have the table's names, not the physical ones that the Delta protocol asks a writer for
# ("Column Mapping"). The commit goes through, and every reader that follows the protocol shows the
# new rows with NULL in all columns. deltalake 1.6.6, by whose log Daft commits, writes them rightly.
#
# Seen: the file of Daft has the columns id and name, that of deltalake col-1 and col-2; delta-rs
# reads [(1, 'x'), (2, 'y'), (None, None)].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib daft==0.7.26 deltalake==1.6.6 pyarrow==25.0.1 pyiceberg==0.12.0
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from pathlib import Path

import daft
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake
from pyarrow import parquet

folder = Path("t")
(folder / "_delta_log").mkdir(parents=True)
parquet.write_table(pa.table({"col-1": [1], "col-2": ["x"]}), folder / "f.parquet")


def field(at: int, name: str, kind: str) -> dict:
    mapping = {"delta.columnMapping.id": at, "delta.columnMapping.physicalName": f"col-{at}"}
    return {"name": name, "type": kind, "nullable": True, "metadata": mapping}


schema = {"type": "struct", "fields": [field(1, "id", "long"), field(2, "name", "string")]}
metadata = {
    "id": "00000000-0000-4000-8000-000000000001",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(schema),
    "partitionColumns": [],
    "configuration": {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"},
}
add = {"path": "f.parquet", "partitionValues": {}, "modificationTime": 0, "dataChange": True}
add["size"] = (folder / "f.parquet").stat().st_size
actions = [{"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}, {"metaData": metadata}]
log = "\n".join(map(json.dumps, [*actions, {"add": add}]))
(folder / "_delta_log" / f"{0:020}.json").write_text(log)


def added(version: int) -> list[str]:
    lines = (folder / "_delta_log" / f"{version:020}.json").read_text().splitlines()
    (path,) = (action["add"]["path"] for action in map(json.loads, lines) if "add" in action)
    return parquet.read_schema(folder / path).names


write_deltalake("t", pa.table({"id": [2], "name": ["y"]}), mode="append")
daft.from_arrow(pa.table({"id": [3], "name": ["z"]})).write_deltalake("t", mode="append")
builder = QueryBuilder().register("t", DeltaTable("t"))
rows = pa.table(builder.execute("select id, name from t order by id").read_all()).to_pylist()
shown = [tuple(row.values()) for row in rows]
print(added(1), added(2), shown)
assert added(1) == ["col-1", "col-2"]
assert added(2) == ["id", "name"]
assert shown == [(1, "x"), (2, "y"), (None, None)]
PYTHON
