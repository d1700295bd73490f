"""A Delta table's folder, written file by file."""

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from harness.formats.delta import vectors
from harness.formats.delta.log import CHANGE_FEED
from harness.formats.files.deletion_vectors import MAGIC

Action = Mapping[str, Any]
MAPPED: Final = "delta.columnMapping."
_ADD: Final = pa.struct(
    {
        "path": pa.string(),
        "partitionValues": pa.map_(pa.string(), pa.string()),
        "dataChange": pa.bool_(),
        "deletionVector": pa.struct(
            {
                "storageType": pa.string(),
                "pathOrInlineDv": pa.string(),
                "offset": pa.int32(),
                "sizeInBytes": pa.int32(),
                "cardinality": pa.int64(),
            }
        ),
    }
)
_CHECKPOINT: Final = pa.schema(
    {
        "protocol": pa.struct(
            {
                "minReaderVersion": pa.int32(),
                "minWriterVersion": pa.int32(),
                "readerFeatures": pa.list_(pa.string()),
            }
        ),
        "metaData": pa.struct(
            {
                "schemaString": pa.string(),
                "partitionColumns": pa.list_(pa.string()),
                "configuration": pa.map_(pa.string(), pa.string()),
            }
        ),
        "add": _ADD,
        "sidecar": pa.struct({"path": pa.string(), "sizeInBytes": pa.int64()}),
    }
)


def field(name: str, type_: object, *, physical: str = "", number: int = 0) -> Action:
    """Return a field of a schema; `physical` and `number`: what column mapping gives it."""
    mapped = {f"{MAPPED}physicalName": physical, f"{MAPPED}id": number} if physical else {}
    return {"name": name, "type": type_, "nullable": True, "metadata": mapped}


def struct_of(*fields: Action) -> Action:
    return {"type": "struct", "fields": fields}


def metadata(
    *fields: Action, partition: Sequence[str] = (), mode: str = "", feed: bool = False
) -> Action:
    configuration = {f"{MAPPED}mode": mode} if mode else {}
    configuration |= {CHANGE_FEED: "true"} if feed else {}
    schema = json.dumps(struct_of(*fields))
    columns = {"partitionColumns": list(partition), "configuration": configuration}
    return {"metaData": {"schemaString": schema, **columns}}


def protocol(version: int, *features: str) -> Action:
    named = {"readerFeatures": features} if features else {}
    return {"protocol": {"minReaderVersion": version, "minWriterVersion": 7, **named}}


def add(
    path: str, partition: Mapping[str, str | None] | None = None, vector: Action | None = None
) -> Action:
    of = {"path": path, "partitionValues": partition or {}, "dataChange": True}
    return {"add": {**of, **({"deletionVector": vector} if vector else {})}}


def remove(path: str, vector: Action | None = None) -> Action:
    of = {"path": path, "dataChange": True}
    return {"remove": {**of, **({"deletionVector": vector} if vector else {})}}


@dataclass(frozen=True, slots=True)
class DeltaFolder:
    path: Path

    def data(
        self, name: str, columns: Mapping[str, object], ids: Mapping[str, int] | None = None
    ) -> str:
        """Write a data file, with the field ids of some columns."""
        table = pa.table(dict(columns))
        fields = [
            f.with_metadata({"PARQUET:field_id": str((ids or {})[f.name])})
            if f.name in (ids or {})
            else f
            for f in table.schema
        ]
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.cast(pa.schema(fields)), file)
        return name

    def commit(self, *actions: Action) -> None:
        """Write the next version."""
        version = len(list(self.path.glob("_delta_log/*.json")))
        lines = "\n".join(map(json.dumps, actions))
        self._log(f"{version:020}.json").write_text(lines, encoding="utf-8")

    def checkpoint(self, name: str, *actions: Action) -> str:
        """Write a file of a checkpoint, or a sidecar; `name`: what follows the version."""
        names = (field.name for field in _CHECKPOINT)
        columns = {name: [action.get(name) for action in actions] for name in names}
        file = self._log(name)
        pq.write_table(pa.table(columns, _CHECKPOINT), file)
        return file.name

    def forget(self, *versions: int) -> None:
        for version in versions:
            self._log(f"{version:020}.json").unlink()

    def vector(self, kind: str, *positions: int) -> Action:
        """Write a deletion vector, and return its descriptor."""
        stored = MAGIC + BitMap64(positions).serialize()
        where = {"pathOrInlineDv": _base85(stored)}
        if kind != vectors.INLINE:
            number = UUID(int=sum(positions) + 1)
            prefix = "dv" if kind == vectors.RELATIVE else ""
            file = self.path / prefix / f"deletion_vector_{number}.bin"
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(b"\1" + struct.pack(">i", len(stored)) + stored + b"\0\0\0\0")
            text = prefix + _base85(number.bytes) if prefix else file.as_uri()
            where = {"pathOrInlineDv": text, "offset": 1}  # type: ignore[dict-item]
        of = {"storageType": kind, "sizeInBytes": len(stored), "cardinality": len(positions)}
        return {**of, **where}

    def _log(self, name: str) -> Path:
        file = self.path / "_delta_log" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return file


def _base85(content: bytes) -> str:
    padded = content + bytes(-len(content) % 4)
    alphabet = str.maketrans(vectors._B85, vectors._Z85)
    return base64.b85encode(padded).decode().translate(alphabet)
