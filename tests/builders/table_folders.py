"""Small folders of tables as engines leave them, made for a test."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from harness.formats.files.table_folder import TableFolder, at
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import UsedChange, UsedFormat

FIRST, SECOND, THIRD = "20240101000000000", "20240102000000000", "20240103000000000"

HUDI_6 = r"""#Properties saved on 2024-01-01T00:00:00.000000000Z
hoodie.table.type=MERGE_ON_READ
hoodie.table.precombine.field=ts
hoodie.table.create.schema={"type"\:"record","name"\:"t_record","fields"\:[]}
hoodie.timeline.layout.version=1
hoodie.datasource.write.drop.partition.columns=false
hoodie.table.recordkey.fields=id
hoodie.table.name=t
hoodie.compaction.payload.class=org.apache.hudi.common.model.OverwriteWithLatestAvroPayload
hoodie.datasource.write.hive_style_partitioning=true
hoodie.table.keygenerator.class=org.apache.hudi.keygen.NonpartitionedKeyGenerator
hoodie.table.version=6
"""
HUDI_9 = r"""hoodie.table.initial.version=9
hoodie.table.keygenerator.type=SIMPLE
hoodie.table.type=COPY_ON_WRITE
hoodie.table.partition.fields=p:SIMPLE
hoodie.timeline.layout.version=2
hoodie.timeline.path=timeline
hoodie.table.ordering.fields=ts
hoodie.datasource.write.hive_style_partitioning=true
hoodie.record.merge.mode=EVENT_TIME_ORDERING
hoodie.table.version=9
"""


def entry(columns: Mapping[str, str], format_: UsedFormat, *keys: str) -> CatalogTable:
    return CatalogTable("d.t", format_, columns=tuple(columns.items()), partition_keys=keys)


def hudi(folder: Path, properties: str, names: Sequence[str], home: str = ".hoodie") -> TableFolder:
    (folder / home).mkdir(parents=True)
    (folder / ".hoodie" / "hoodie.properties").write_text(properties)
    for name in names:
        (folder / home / name).write_text("{}")
    return at(str(folder))


def history(folder: Path, *schemas: tuple[str, Mapping[int, tuple[str, Any]]]) -> None:
    """Write `.hoodie/.schema`: each schema by its instant, its columns by their ids."""
    entries = [
        {
            "max_column_id": 9,
            "version_id": int(instant),
            "type": "record",
            "fields": [
                {"id": number, "name": name, "optional": True, "type": type_}
                for number, (name, type_) in columns.items()
            ],
        }
        for instant, columns in reversed(schemas)
    ]
    home = folder / ".hoodie" / ".schema"
    home.mkdir(parents=True, exist_ok=True)
    (home / f"{schemas[-1][0]}.schemacommit").write_text(json.dumps({"schemas": entries}))
    (home / f"{schemas[-1][0]}.schemacommit.inflight").touch()


def base(folder: Path, group: str, instant: str, columns: Mapping[str, Any] | None = None) -> Path:
    path = folder / f"{group}-0_0-1-2_{instant}.parquet"
    return parquet(path, {"_hoodie_commit_time": [instant], **(columns or {"id": ["1"]})})


def log(folder: Path, group: str, instant: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f".{group}-0_{instant}.log.1_0-3-4").write_bytes(b"#HUDI#")


def parquet(path: Path, columns: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), path)
    return path


def avro(records: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]) -> bytes:
    entries = [{"name": name, "type": type_} for name, type_ in fields.items()]
    out = io.BytesIO()
    fastavro.writer(out, {"type": "record", "name": "r", "fields": entries}, list(records))
    return out.getvalue()


def short(changes: Sequence[UsedChange]) -> list[str]:
    """Return changes as texts: what, of which column, to what or where, whether old files live."""
    return [
        " ".join(
            filter(
                None,
                (
                    change.operation.partition("_")[0],
                    change.column,
                    change.to or change.place or "",
                    change.old_files,
                    "" if change.sure else "?",
                ),
            )
        )
        for change in changes
    ]
