#!/usr/bin/env bash
# deltalake 1.6.6 (QueryBuilder): in a table with column mapping by name, the parts of structs which
# are a map's values are taken from old files by position. Where part a was dropped and part b came
# after it, the part k shows a's value, and b shows k's. There is no error. In a list it is right.
#
# The table follows the Delta protocol, "Column Mapping": a reader finds a part in a file by its
# physical name; the file has col-k and no col-b.
# Seen: l [{'k': 1, 'b': None}], m [('k', {'k': 7, 'b': 1})].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT && cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib deltalake==1.6.6 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

folder = Path("t")
(folder / "_delta_log").mkdir(parents=True)
part = pa.struct([("col-a", pa.int64()), ("col-k", pa.int64())])
types = {"col-1": pa.list_(part), "col-2": pa.map_(pa.string(), part)}
old = {"col-a": 7, "col-k": 1}
rows = [{"col-1": [old], "col-2": [("k", old)]}]
parquet.write_table(pa.Table.from_pylist(rows, pa.schema(types)), folder / "f.parquet")


def field(at: int, name: str, kind: object, physical: str) -> dict:
    mapping = {"delta.columnMapping.id": at, "delta.columnMapping.physicalName": physical}
    return {"name": name, "type": kind, "nullable": True, "metadata": mapping}


def parts(first: int) -> dict:
    fields = [field(at, name, "long", f"col-{name}") for at, name in enumerate("kb", first)]
    return {"type": "struct", "fields": fields}


array = {"type": "array", "elementType": parts(3), "containsNull": True}
map_ = {"type": "map", "keyType": "string", "valueType": parts(5), "valueContainsNull": True}
columns = [field(1, "l", array, "col-1"), field(2, "m", map_, "col-2")]
metadata = {"id": "00000000-0000-4000-8000-000000000001"} | {
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps({"type": "struct", "fields": columns}),
    "partitionColumns": [],
    "configuration": {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "6"},
}
add = {"path": "f.parquet", "partitionValues": {}, "modificationTime": 0, "dataChange": True}
add["size"] = (folder / "f.parquet").stat().st_size
protocol = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
log = "\n".join(map(json.dumps, [protocol, {"metaData": metadata}, {"add": add}]))
(folder / "_delta_log" / f"{0:020}.json").write_text(log)

from deltalake import DeltaTable, QueryBuilder

asked = QueryBuilder().register("t", DeltaTable("t")).execute("select * from t")
(seen,) = pa.table(asked.read_all()).to_pylist()
print(seen)
assert seen == {"l": [{"k": 1, "b": None}], "m": [("k", {"k": 7, "b": 1})]}
PYTHON
