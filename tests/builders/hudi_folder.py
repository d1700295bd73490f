"""A Hudi table's folder, written file by file."""

import io
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from harness.formats.hudi import log as hudi_log
from harness.formats.hudi.log import BlockKind
from tests.builders.written_table import hudi_block

KEY: Final = "_hoodie_record_key"
Row = Mapping[str, Any]


def avro_schema(columns: Mapping[str, Any]) -> str:
    fields = [{"name": name, "type": ["null", type_]} for name, type_ in columns.items()]
    return json.dumps({"type": "record", "name": "r", "fields": fields})


@dataclass(frozen=True, slots=True)
class HudiFolder:
    path: Path
    columns: Mapping[str, Any]
    """Of the table as it was created, with Avro's types."""
    version: int = 6

    def create(self, **properties: str) -> None:
        """Write the properties; in their names `_` stands for a point."""
        listed = {
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.version": str(self.version),
            "hoodie.table.create.schema": avro_schema(self.columns),
            **{f"hoodie.{name.replace('_', '.')}": text for name, text in properties.items()},
        }
        lines = (f"{name}={text.replace(':', chr(92) + ':')}" for name, text in listed.items())
        self._file(".hoodie/hoodie.properties").write_text("\n".join(lines), encoding="utf-8")

    def done(
        self, instant: str, action: str = "deltacommit", *, at: str = "", record: Row | None = None
    ) -> None:
        """Complete an instant; `at`: when, in layout 2."""
        name = f".hoodie/timeline/{instant}_{at}.{action}" if at else f".hoodie/{instant}.{action}"
        self._file(name).write_text(json.dumps(record or {}), encoding="utf-8")

    def base(self, group: str, instant: str, *rows: Row, folder: str = "") -> None:
        file = self._file(f"{folder}{group}_0-1-1_{instant}.parquet")
        pq.write_table(pa.Table.from_pylist(list(rows)), file)

    def log(
        self, group: str, instant: str, *blocks: bytes, number: int = 1, folder: str = ""
    ) -> None:
        name = f"{folder}.{group}_{instant}.log.{number}_0-1-1"
        self._file(name).write_bytes(b"".join(blocks))

    def rows(self, instant: str, *rows: Row, partial: bool = False) -> bytes:
        """Return a block of Avro records that have the columns of the first row."""
        types = {KEY: "string", "_hoodie_operation": "string", **self.columns}
        schema = avro_schema({name: types[name] for name in rows[0]})
        parsed = fastavro.parse_schema(json.loads(schema))
        content = struct.pack(">ii", hudi_log.CONTENT_VERSION, len(rows))
        for row in rows:
            sink = io.BytesIO()
            fastavro.schemaless_writer(sink, parsed, dict(row))
            content += struct.pack(">i", sink.tell()) + sink.getvalue()
        header = {hudi_log.SCHEMA: schema}
        more = {hudi_log.IS_PARTIAL: "true"} if partial else {}
        return hudi_block(instant, BlockKind.AVRO_DATA, content, {**header, **more})

    def parquet_rows(self, instant: str, *rows: Row) -> bytes:
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(list(rows)), sink)
        header = {hudi_log.SCHEMA: avro_schema(self.columns)}
        return hudi_block(instant, BlockKind.PARQUET_DATA, sink.getvalue(), header)

    def deletes(self, instant: str, keys: Mapping[str, int | None]) -> bytes:
        """Return a block of deleted keys with their ordering values."""
        records: Sequence[Row] = [
            {
                "recordKey": key,
                "partitionPath": "",
                "orderingVal": None if ordering is None else ("LongWrapper", {"value": ordering}),
            }
            for key, ordering in keys.items()
        ]
        schema, sink = fastavro.parse_schema(hudi_log._DELETES), io.BytesIO()
        fastavro.schemaless_writer(sink, schema, {"deleteRecordList": records})
        content = struct.pack(">ii", hudi_log.CONTENT_VERSION, sink.tell()) + sink.getvalue()
        return hudi_block(instant, BlockKind.DELETE, content, {})

    def taken_back(self, instant: str, target: str) -> bytes:
        header = {hudi_log.TARGET_INSTANT_TIME: target, 3: "0"}
        return hudi_block(instant, BlockKind.COMMAND, b"", header)

    def schemas(self, instant: str, *versions: tuple[int, Mapping[int, tuple[str, str]]]) -> None:
        """Write a history of the schema: of each version the columns by their ids."""
        records = [_schema(*version) for version in versions]
        file = self._file(f".hoodie/.schema/{instant}_.schemacommit")
        file.write_text(json.dumps({"schemas": records}), encoding="utf-8")

    def _file(self, name: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return file


def _schema(version: int, columns: Mapping[int, tuple[str, str]]) -> Row:
    fields = [
        {"id": number, "name": name, "optional": True, "type": type_}
        for number, (name, type_) in columns.items()
    ]
    return {
        "max_column_id": max(columns),
        "version_id": version,
        "type": "record",
        "fields": fields,
    }


def latest(version: int, columns: Mapping[int, tuple[str, str]]) -> Row:
    """Return the record of a write that says which schema it left."""
    return {"extraMetadata": {"latest_schema": json.dumps(_schema(version, columns))}}
