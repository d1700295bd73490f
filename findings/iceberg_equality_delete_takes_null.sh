#!/usr/bin/env bash
# DuckDB 1.5.5 with its extension for Iceberg: an equality delete of b = 10, as Flink writes it,
# takes the rows away whose b is NULL as well, without an error; count(*) is too low as well. NULL
# is not equal to 10 (specification, "Equality Delete Files").
#
# Seen: of the rows (2, 20) and (3, NULL) that are left the first one alone.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1 duckdb==1.5.5 duckdb-extension-avro==1.5.5 duckdb-extension-iceberg==1.5.5
PYTHONPATH=lib python3 - <<'PYTHON'
import json
import os
from importlib import import_module
from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import parquet
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg import manifest
from pyiceberg.manifest import DataFile, DataFileContent, ManifestEntry
from pyiceberg.typedef import Record

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
rows = pa.table({"id": [1, 2, 3], "b": [10, 20, None]})
table = catalog.create_table("n.t", rows.schema)
table.append(rows)
# PyIceberg writes no manifests of deletes by itself.
manifest.ManifestWriterV2.content = lambda self: manifest.ManifestContent.DELETES
field = pa.field("b", pa.int64(), metadata={b"PARQUET:field_id": b"2"})
parquet.write_table(pa.table([[10]], schema=pa.schema([field])), "gone.parquet")
now, new, place = table.current_snapshot(), 7, f"file://{os.getcwd()}"
file = {"content": DataFileContent.EQUALITY_DELETES, "equality_ids": [2], "partition": Record()}
file |= {"file_path": f"{place}/gone.parquet", "file_format": "PARQUET", "record_count": 1}
deletes = DataFile.from_args(**file, file_size_in_bytes=Path("gone.parquet").stat().st_size)
output, schema = table.io.new_output, table.schema()
with manifest.write_manifest(2, table.spec(), schema, output(f"{place}/m.avro"), new, "null") as writer:
    writer.add_entry(ManifestEntry.from_args(status=1, snapshot_id=new, data_file=deletes))
files = [writer.to_manifest_file(), *now.manifests(table.io)]
with manifest.write_manifest_list(2, output(f"{place}/list.avro"), new, None, 2, "null") as writer:
    writer.add_manifests(files)
metadata = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
snapshot = {**metadata["snapshots"][0], "snapshot-id": new, "manifest-list": f"{place}/list.avro"}
snapshot |= {"sequence-number": 2, "summary": {"operation": "delete"}}
metadata["snapshots"].append(snapshot)
metadata |= {"current-snapshot-id": new, "last-sequence-number": 2}
metadata["refs"]["main"]["snapshot-id"] = new
Path("new.metadata.json").write_text(json.dumps(metadata))
for name in ("avro", "iceberg"):
    package = Path(import_module(f"duckdb_extension_{name}").__file__).parent
    (file,) = package.glob(f"extensions/*/{name}.duckdb_extension")
    duckdb.sql(f"load '{file}'")
scan = f"from iceberg_scan('{os.getcwd()}/new.metadata.json')"
answers = [duckdb.sql(f"select {what} {scan}").fetchall() for what in ("id, b", "count(*)")]
print(answers)
assert answers == [[(2, 20)], [(1,)]], "(3, NULL) is not deleted"
PYTHON
