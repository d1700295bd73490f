"""Writes the files of an Iceberg table, as far as what is read of them, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc
from pyroaring import BitMap64

LOCATION = "file:/where/it/was/written"
ADDED, GONE = 1, 2
LONG = ["null", "long"]


def _numbered(name: str, type_: str) -> dict[str, Any]:
    fields = [{"name": "key", "type": "int"}, {"name": "value", "type": type_}]
    pair = {"type": "record", "name": f"{name}_pair", "fields": fields}
    return {"name": name, "type": ["null", {"type": "array", "items": pair}], "default": None}


ENTRY: dict[str, Any] = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [
        {"name": "status", "type": "int"},
        {"name": "snapshot_id", "type": LONG},
        {"name": "sequence_number", "type": LONG},
        {
            "name": "data_file",
            "type": {
                "type": "record",
                "name": "r2",
                "fields": [
                    {"name": "content", "type": "int"},
                    {"name": "file_path", "type": "string"},
                    {"name": "file_format", "type": "string"},
                    {"name": "record_count", "type": "long"},
                    {"name": "referenced_data_file", "type": ["null", "string"]},
                    {"name": "content_offset", "type": LONG},
                    {"name": "content_size_in_bytes", "type": LONG},
                    _numbered("value_counts", "long"),
                    _numbered("null_value_counts", "long"),
                    _numbered("lower_bounds", "bytes"),
                    _numbered("upper_bounds", "bytes"),
                    {
                        "name": "partition",
                        "type": {
                            "type": "record",
                            "name": "r102",
                            "fields": [{"name": "a", "type": LONG}],
                        },
                    },
                ],
            },
        },
    ],
}
MANIFEST: dict[str, Any] = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string"},
        {"name": "sequence_number", "type": "long"},
        {"name": "added_snapshot_id", "type": "long"},
        {"name": "partition_spec_id", "type": "int"},
    ],
}


@dataclass(frozen=True)
class Entry:
    """A file in a manifest; what is None it inherits from the manifest."""

    path: str
    content: int = 0
    status: int = ADDED
    snapshot: int | None = None
    sequence: int | None = None
    metrics: Mapping[str, Any] = field(default_factory=lambda: {"record_count": 1})
    """What the manifest tells of its columns."""
    partition: int | None = None
    """The value of the one partition column."""
    kind: str = "PARQUET"
    vector_of: str = ""
    """The data file whose deleted positions stand in the whole of it."""


@dataclass
class IcebergFolder:
    path: Path
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    manifests: list[dict[str, Any]] = field(default_factory=list)
    log: list[int] = field(default_factory=list)
    """The snapshots that were the current one."""

    def data(self, name: str, **columns: Sequence[object]) -> str:
        return self._parquet(f"data/{name}", columns)

    def orc(self, name: str, **columns: Sequence[object]) -> str:
        orc.write_table(pa.table(dict(columns)), self._made(f"data/{name}"))
        return f"data/{name}"

    def avro(self, name: str, ids: Sequence[int] = (), **columns: Sequence[object]) -> str:
        kinds = {name: "long" if isinstance(v[0], int) else "string" for name, v in columns.items()}
        told = [{"field-id": id_} for id_ in ids] or [{}] * len(kinds)
        fields = [
            {"name": name, "type": ["null", kind], **entry}
            for (name, kind), entry in zip(kinds.items(), told, strict=True)
        ]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        with self._made(f"data/{name}").open("wb") as file:
            fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, rows)
        return f"data/{name}"

    def deletes(self, name: str, *places: tuple[str, int]) -> str:
        """Write a position delete file of (path in the table, position)."""
        paths = [f"{LOCATION}/{path}" for path, _ in places]
        return self._parquet(f"data/{name}", {"file_path": paths, "pos": [at for _, at in places]})

    def vector(self, name: str, *positions: int) -> str:
        bitmap = bytes.fromhex("d1d33964") + BitMap64(positions).serialize()
        path = self._made(f"data/{name}")
        path.write_bytes(len(bitmap).to_bytes(4, "big") + bitmap + bytes(4))
        return f"data/{name}"

    def commit(
        self,
        snapshot: int,
        *entries: Entry,
        forget: bool = False,
        spec: int = 0,
        staged: bool = False,
    ) -> None:
        """Add a snapshot with one more manifest, or with that alone (`forget`)."""
        number = len(self.snapshots) + 1
        self.manifests = [] if forget else self.manifests
        manifest, listed = f"metadata/m{number}.avro", f"metadata/snap-{number}.avro"
        self._avro(manifest, ENTRY, [self._entry(entry) for entry in entries])
        self.manifests.append(
            {
                "manifest_path": f"{LOCATION}/{manifest}",
                "sequence_number": number,
                "added_snapshot_id": snapshot,
                "partition_spec_id": spec,
            }
        )
        self._avro(listed, MANIFEST, self.manifests)
        found = {"snapshot-id": snapshot, "sequence-number": number, "schema-id": 0}
        self.snapshots.append({**found, "manifest-list": f"{LOCATION}/{listed}"})
        if not staged:
            self.log.append(snapshot)

    def metadata(self, number: int, **more: object) -> Path:
        found: dict[str, Any] = {
            "format-version": 2,
            "location": LOCATION,
            "snapshots": self.snapshots,
            "snapshot-log": [{"timestamp-ms": 1, "snapshot-id": number} for number in self.log],
            "current-snapshot-id": self.log[-1] if self.log else -1,
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "current-schema-id": 0,
            "schemas": [{"schema-id": 0, "fields": [{"id": 1, "name": "id"}]}],
        }
        path = self._made(f"metadata/{number:05d}-{'0' * 8}-aaaa-bbbb-cccc-{number:012d}")
        path = path.with_name(f"{path.name}.metadata.json")
        path.write_text(json.dumps({**found, **more}))
        return path

    def _parquet(self, name: str, columns: Mapping[str, Sequence[object]]) -> str:
        pq.write_table(pa.table(dict(columns)), self._made(name))
        return name

    def _avro(self, name: str, schema: dict[str, Any], records: list[dict[str, Any]]) -> None:
        with self._made(name).open("wb") as file:
            fastavro.writer(file, schema, records)

    def _made(self, name: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _entry(self, of: Entry) -> dict[str, Any]:
        size = (self.path / of.path).stat().st_size if of.vector_of else None
        return {
            "status": of.status,
            "snapshot_id": of.snapshot,
            "sequence_number": of.sequence,
            "data_file": {
                "content": of.content,
                "file_path": f"{LOCATION}/{of.path}",
                "file_format": "PUFFIN" if of.vector_of else of.kind,
                "referenced_data_file": f"{LOCATION}/{of.vector_of}",
                "content_offset": 0,
                "content_size_in_bytes": size,
                "partition": {"a": of.partition},
                **of.metrics,
            },
        }
