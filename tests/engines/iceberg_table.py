"""An Iceberg v2 table of one row, made by hand from its specification: no writer is needed.

Its data file was written with the columns id, f1, f2, f3; since then f1 was renamed, f2 was moved
before it, f3 was dropped and added again. Only who maps columns by field id reads it right.
Source: Iceberg table specification, format version 2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from harness.runtime import metastore_client
from harness.runtime.metastore_objects import CatalogEntry

ID, F1, F2, DROPPED, READDED = 1, 2, 3, 4, 5
SNAPSHOT: Final = 1
COLUMNS: Final = (
    ("id", ID, "long"),
    ("f2", F2, "string"),
    ("g", F1, "string"),
    ("f3", READDED, "string"),
)
ROW: Final = (1, "b1", "a1", None)
"""What a reader must answer: the old values under their columns, none in the one added last."""
_HIVE: Final = {"long": "bigint", "string": "string"}

_MANIFEST: Final = (
    ("status", 0, "int"),
    ("snapshot_id", 1, ["null", "long"]),
    ("sequence_number", 3, ["null", "long"]),
    ("file_sequence_number", 4, ["null", "long"]),
)
_DATA_FILE: Final = (
    ("content", 134, "int"),
    ("file_path", 100, "string"),
    ("file_format", 101, "string"),
    ("partition", 102, {"type": "record", "name": "r102", "fields": []}),
    ("record_count", 103, "long"),
    ("file_size_in_bytes", 104, "long"),
)
_MANIFEST_FILE: Final = (
    ("manifest_path", 500, "string"),
    ("manifest_length", 501, "long"),
    ("partition_spec_id", 502, "int"),
    ("content", 517, "int"),
    ("sequence_number", 515, "long"),
    ("min_sequence_number", 516, "long"),
    ("added_snapshot_id", 503, "long"),
    ("added_files_count", 504, "int"),
    ("existing_files_count", 505, "int"),
    ("deleted_files_count", 506, "int"),
    ("added_rows_count", 512, "long"),
    ("existing_rows_count", 513, "long"),
    ("deleted_rows_count", 514, "long"),
)


def write(folder: Path) -> Path:
    """Write the table into an empty folder; gives its metadata file."""
    for name in ("data", "metadata"):
        (folder / name).mkdir()
    data = folder / "data" / "one.parquet"
    fields = [("id", ID, pa.int64()), ("f1", F1, pa.string()), ("f2", F2, pa.string()), ("f3", DROPPED, pa.string())]  # fmt: skip # noqa: E501
    schema = pa.schema(
        [pa.field(name, of, metadata={"PARQUET:field_id": str(at)}) for name, at, of in fields]
    )
    pq.write_table(pa.table([[1], ["a1"], ["b1"], ["c1"]], schema=schema), data)
    manifests = _manifests(folder / "metadata", data)
    # Trino 476 takes no name without a number and a UUID.
    metadata = folder / "metadata" / f"00000-{UUID(int=1)}.metadata.json"
    metadata.write_text(json.dumps(_metadata(folder, manifests)), encoding="utf-8")
    return metadata


def register(metastore_uri: str, database: str, name: str, metadata: Path) -> None:
    """Register it as Iceberg's catalogs on a Hive metastore do."""
    cols = [{"name": column, "type": _HIVE[of]} for column, _, of in COLUMNS]
    storage = {
        "cols": cols,
        "location": "file:{location}",
        "inputFormat": "org.apache.hadoop.mapred.FileInputFormat",
        "outputFormat": "org.apache.hadoop.mapred.FileOutputFormat",
        "serdeInfo": {
            "serializationLib": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
            "parameters": {},
        },
        "parameters": {},
    }
    parameters = {"table_type": "ICEBERG", "metadata_location": f"file:{metadata}"}
    entry = CatalogEntry(name, {"tableName": name, "sd": storage, "parameters": parameters})
    with metastore_client.connect(metastore_uri) as found:
        found.register(database, [entry], str(metadata.parent.parent))


def _manifests(folder: Path, data: Path) -> Path:
    manifest, listed = folder / "m0.avro", folder / "snap-1.avro"
    file = {
        "content": 0, "file_path": f"file:{data}", "file_format": "PARQUET", "partition": {},
        "record_count": 1, "file_size_in_bytes": data.stat().st_size,
    }  # fmt: skip
    entry = {
        "status": 1, "snapshot_id": SNAPSHOT, "sequence_number": 1, "file_sequence_number": 1,
        "data_file": file,
    }  # fmt: skip
    told = {
        "schema": json.dumps(_schema()), "partition-spec": "[]", "partition-spec-id": "0",
        "format-version": "2", "content": "data",
    }  # fmt: skip
    fields = (*_MANIFEST, ("data_file", 2, _record("r2", _DATA_FILE)))
    _write(manifest, _record("manifest_entry", fields), entry, told)
    counts = {name: 0 for name, *_ in _MANIFEST_FILE} | {
        "manifest_path": f"file:{manifest}", "manifest_length": manifest.stat().st_size,
        "sequence_number": 1, "min_sequence_number": 1, "added_snapshot_id": SNAPSHOT,
        "added_files_count": 1, "added_rows_count": 1,
    }  # fmt: skip
    _write(listed, _record("manifest_file", _MANIFEST_FILE), counts, {"format-version": "2"})
    return listed


def _record(name: str, fields: Any) -> dict[str, Any]:  # noqa: ANN401 - Avro types
    made = [{"name": field, "type": of, "field-id": at} for field, at, of in fields]
    return {"type": "record", "name": name, "fields": made}


def _write(path: Path, schema: dict[str, Any], record: Any, told: dict[str, str]) -> None:  # noqa: ANN401
    with path.open("wb") as out:
        fastavro.writer(out, fastavro.parse_schema(schema), [record], metadata=told)


def _schema() -> dict[str, Any]:
    fields = [{"id": at, "name": name, "required": False, "type": of} for name, at, of in COLUMNS]
    return {"type": "struct", "schema-id": 0, "fields": fields}


def _metadata(folder: Path, manifests: Path) -> dict[str, Any]:
    snapshot = {
        "snapshot-id": SNAPSHOT, "sequence-number": 1, "timestamp-ms": 1700000000000,
        "summary": {"operation": "append"}, "manifest-list": f"file:{manifests}", "schema-id": 0,
    }  # fmt: skip
    return {
        "format-version": 2, "table-uuid": "12151fd2-7586-4a11-8f9e-2a86e4085a59",
        "location": f"file:{folder}", "last-sequence-number": 1, "last-updated-ms": 1700000000000,
        "last-column-id": READDED, "current-schema-id": 0, "schemas": [_schema()],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999, "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}], "properties": {},
        "current-snapshot-id": SNAPSHOT, "snapshots": [snapshot], "snapshot-log": [],
        "metadata-log": [],
    }  # fmt: skip
