"""Writes the files of an Iceberg table, as far as what is read of them, for tests."""

import json
import zlib
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
EQUALITY_DELETES = 2
PUFFIN = b"PFA1"
"""What a Puffin file and its footer begin with."""
LONG = ["null", "long"]
FIELDS = [
    {"id": id_, "name": name, "type": "long", "required": False}
    for id_, name in enumerate(("id", "a", "b"), start=1)
]


def _record(name: str, **types: Any) -> dict[str, Any]:  # noqa: ANN401 - Avro's own
    fields = [
        {"name": field, "type": type_} | ({"default": None} if isinstance(type_, list) else {})
        for field, type_ in types.items()
    ]
    return {"type": "record", "name": name, "fields": fields}


def _numbered(name: str, type_: str) -> list[Any]:
    return ["null", {"type": "array", "items": _record(f"{name}_pair", key="int", value=type_)}]


ENTRY = _record(
    "manifest_entry",
    status="int",
    snapshot_id=LONG,
    sequence_number=LONG,
    data_file=_record(
        "r2",
        content="int",
        file_path="string",
        file_format="string",
        record_count="long",
        first_row_id=LONG,
        referenced_data_file=["null", "string"],
        content_offset=LONG,
        content_size_in_bytes=LONG,
        equality_ids=["null", {"type": "array", "items": "int"}],
        value_counts=_numbered("value_counts", "long"),
        null_value_counts=_numbered("null_value_counts", "long"),
        lower_bounds=_numbered("lower_bounds", "bytes"),
        upper_bounds=_numbered("upper_bounds", "bytes"),
        partition=_record("r102", a=LONG),
    ),
)
MANIFEST = _record(
    "manifest_file",
    manifest_path="string",
    sequence_number="long",
    added_snapshot_id="long",
    partition_spec_id="int",
    first_row_id=LONG,
    partitions=[
        "null",
        {
            "type": "array",
            "items": _record("r508", contains_null="boolean", lower_bound=["null", "bytes"]),
        },
    ],
)


@dataclass(frozen=True)
class Entry:
    """A file in a manifest; what is None it inherits from the manifest."""

    path: str
    content: int = 0
    status: int = ADDED
    snapshot: int | None = None
    sequence: int | None = None
    metrics: Mapping[str, Any] = field(default_factory=lambda: {"record_count": 1})
    """The metrics of its columns in the manifest."""
    partition: int | None = None
    """The value of the one partition column."""
    kind: str = "PARQUET"
    vector_of: str = ""
    """The data file whose deleted positions stand in it."""
    only: str = ""
    """The only data file that a position delete file is about, as its manifest says."""
    by: tuple[int, ...] = (1,)
    """The ids of the columns whose values an equality delete file has."""


@dataclass
class IcebergFolder:
    path: Path
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    manifests: list[dict[str, Any]] = field(default_factory=list)
    log: list[int] = field(default_factory=list)
    """The snapshots that were the current one."""
    vectors: dict[str, dict[str, int]] = field(default_factory=dict)
    """What manifests say of the deletion vectors, by path."""

    def data(self, name: str, **columns: Sequence[object]) -> str:
        return self._parquet(f"data/{name}", columns)

    def orc(self, name: str, **columns: Sequence[object]) -> str:
        orc.write_table(pa.table(dict(columns)), self._made(f"data/{name}"))
        return f"data/{name}"

    def avro(self, name: str, ids: Sequence[int] = (), **columns: Sequence[object]) -> str:
        kinds = {name: "long" if isinstance(v[0], int) else "string" for name, v in columns.items()}
        ids_entries = [{"field-id": id_} for id_ in ids] or [{}] * len(kinds)
        fields = [
            {"name": name, "type": ["null", kind], **entry}
            for (name, kind), entry in zip(kinds.items(), ids_entries, strict=True)
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
        checksum = zlib.crc32(bitmap).to_bytes(4, "big")
        blob = len(bitmap).to_bytes(4, "big") + bitmap + checksum
        there = {"type": "deletion-vector-v1", "offset": len(PUFFIN), "length": len(blob)}
        footer = json.dumps({"blobs": [there]}).encode()
        end = len(footer).to_bytes(4, "little") + bytes(4) + PUFFIN
        path.write_bytes(PUFFIN + blob + PUFFIN + footer + end)
        place = {"content_offset": len(PUFFIN), "content_size_in_bytes": len(blob)}
        self.vectors[f"data/{name}"] = {**place, "record_count": len(positions)}
        return f"data/{name}"

    def commit(
        self,
        snapshot: int,
        *entries: Entry,
        forget: bool = False,
        spec: int = 0,
        staged: bool = False,
        first_row: int | None = None,
        least: Sequence[bytes | None] = (),
    ) -> None:
        """Add a snapshot with one more manifest, or with that alone (`forget`).

        `least`: what the list says of the least values of its partition fields.
        """
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
                "first_row_id": first_row,
                "partitions": [{"contains_null": False, "lower_bound": at} for at in least],
            }
        )
        self._avro(listed, MANIFEST, self.manifests)
        result = {"snapshot-id": snapshot, "sequence-number": number, "schema-id": 0}
        self.snapshots.append({**result, "manifest-list": f"{LOCATION}/{listed}"})
        if not staged:
            self.log.append(snapshot)

    def metadata(self, number: int, **more: object) -> Path:
        result: dict[str, Any] = {
            "format-version": 2,
            "location": LOCATION,
            "snapshots": self.snapshots,
            "snapshot-log": [{"timestamp-ms": 1, "snapshot-id": number} for number in self.log],
            "current-snapshot-id": self.log[-1] if self.log else -1,
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "current-schema-id": 0,
            "schemas": [{"schema-id": 0, "fields": FIELDS}],
        }
        path = self._made(f"metadata/{number:05d}-{'0' * 8}-aaaa-bbbb-cccc-{number:012d}")
        path = path.with_name(f"{path.name}.metadata.json")
        path.write_text(json.dumps({**result, **more}))
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

    def _entry(self, entry: Entry) -> dict[str, Any]:
        return {
            "status": entry.status,
            "snapshot_id": entry.snapshot,
            "sequence_number": entry.sequence,
            "data_file": {
                "content": entry.content,
                "file_path": f"{LOCATION}/{entry.path}",
                "file_format": "PUFFIN" if entry.vector_of else entry.kind,
                "referenced_data_file": f"{LOCATION}/{entry.vector_of or entry.only}"
                if entry.vector_of or entry.only
                else None,
                "equality_ids": list(entry.by) if entry.content == EQUALITY_DELETES else None,
                "partition": {"a": entry.partition},
                **entry.metrics,
                **self.vectors.get(entry.path, {}),
            },
        }
