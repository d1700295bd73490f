#!/usr/bin/env bash
# deltalake 1.6.6: DeltaTable.to_pyarrow_table answers NULL for every value of a table with column
# mapping by name. The number of rows is right, and there is no error. The SQL of the same release
# (QueryBuilder) has the values.
#
# The table follows the Delta protocol, "Column Mapping": the file calls its columns col-1 and col-2.
# Seen: [{'id': None, 'name': None}], and by SQL [{'id': 1, 'name': 'x'}].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib deltalake==1.6.6 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from pathlib import Path

import pyarrow as pa
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

from deltalake import DeltaTable, QueryBuilder

by_arrow = DeltaTable("t").to_pyarrow_table().to_pylist()
builder = QueryBuilder().register("t", DeltaTable("t"))
by_sql = pa.table(builder.execute("select * from t").read_all()).to_pylist()
print(by_arrow, by_sql)
assert by_arrow == [{"id": None, "name": None}]
assert by_sql == [{"id": 1, "name": "x"}]
PYTHON
