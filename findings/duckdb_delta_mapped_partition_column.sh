#!/usr/bin/env bash
# DuckDB 1.5.5 with its extension for Delta: where a table has column mapping by name, its partition
# column is NULL in every row, and a filter on it finds nothing. There is no error.
#
# The table follows the Delta protocol, "Column Mapping": the log calls the partition column by its
# physical name, col-2, in partitionValues. Seen: [(1, None)], and 0 rows with name = 'x'.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib duckdb==1.5.5 duckdb-extension-delta==1.5.5 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

folder = Path("t")
(folder / "_delta_log").mkdir(parents=True)
parquet.write_table(pa.table({"col-1": [1]}), folder / "f.parquet")


def field(at: int, name: str, kind: str) -> dict:
    mapping = {"delta.columnMapping.id": at, "delta.columnMapping.physicalName": f"col-{at}"}
    return {"name": name, "type": kind, "nullable": True, "metadata": mapping}


schema = {"type": "struct", "fields": [field(1, "id", "long"), field(2, "name", "string")]}
metadata = {
    "id": "00000000-0000-4000-8000-000000000001",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(schema),
    "partitionColumns": ["name"],
    "configuration": {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"},
}
add = {"path": "f.parquet", "partitionValues": {"col-2": "x"}, "modificationTime": 0, "dataChange": True}
add["size"] = (folder / "f.parquet").stat().st_size
actions = [{"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}, {"metaData": metadata}]
log = "\n".join(map(json.dumps, [*actions, {"add": add}]))
(folder / "_delta_log" / f"{0:020}.json").write_text(log)

import duckdb
import duckdb_extension_delta

(file,) = Path(duckdb_extension_delta.__file__).parent.glob("extensions/*/delta.duckdb_extension")
duckdb.sql(f"load '{file}'")
rows = duckdb.sql("select id, name from delta_scan('t')").fetchall()
counted = duckdb.sql("select count(*) from delta_scan('t') where name = 'x'").fetchall()
print(rows, counted)
assert rows == [(1, None)], "the log says x"
assert counted == [(0,)]
PYTHON
