"""`tools/table_files.py` reads tables by their own records: what it must tell apart in each."""

import io
import json
import struct
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyroaring import BitMap64

from tools import table_files
from tools.table_files import StoredRow, rows_of

ROWS: list[dict[str, Any]] = [{"id": 1, "a": "x"}, {"id": 2, "a": None}]
AVRO_FIELDS = [{"name": "id", "type": "int"}, {"name": "a", "type": ["null", "string"]}]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    entries(tmp_path)
    (tmp_path / "table").mkdir()
    return tmp_path / "table"


def entries(folder: Path, **more: object) -> None:
    entry = {"name": "t", "table": {"parameters": {"metadata_location": "x/1.json"}}, **more}
    (folder / "state.json").write_text(json.dumps({"entries": [entry]}))


def parquet(path: Path, rows: list[dict[str, Any]], ids: dict[str, int] | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = pa.Table.from_pylist(rows)
    if ids:
        fields = [
            field.with_metadata({"PARQUET:field_id": str(ids[field.name])})
            for field in content.schema
        ]
        content = content.cast(pa.schema(fields))
    pq.write_table(content, path)


def avro(path: Path, name: str, fields: list[Any], records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        schema = fastavro.parse_schema({"type": "record", "name": name, "fields": fields})
        fastavro.writer(file, schema, records)


def shown(rows: list[StoredRow], *columns: str) -> list[tuple[object, ...]]:
    values = ((row.values if row.current is None else row.current) for row in rows)
    return sorted(tuple(value.get(column) for column in columns) for value in values)


@pytest.mark.parametrize("ending", ["parquet", "orc", "avro"])
def test_a_file_is_read_by_what_it_begins_with(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "data"
    if ending == "parquet":
        parquet(path, ROWS)
    elif ending == "orc":
        orc.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        avro(path, "r", AVRO_FIELDS, ROWS)
    assert table_files.read_file(path) == ROWS
    path.write_text("1,x")
    assert table_files.read_file(path) is None


def test_text_files_have_fields_by_number_and_folders_give_values(table: Path) -> None:
    (table / "p=a%2Fb").mkdir()
    (table / "p=a%2Fb" / "f").write_text("1\x01x\n")
    (table / "_SUCCESS").write_text("")
    assert [dict(row.values) for row in rows_of(table, "id")] == [{"0": "1", "1": "x", "p": "a/b"}]


# Delta


def delta_log(table: Path, *versions: list[dict[str, Any]]) -> None:
    (table / "_delta_log").mkdir()
    for number, actions in enumerate(versions):
        text = "\n".join(map(json.dumps, actions))
        (table / "_delta_log" / f"{number:020}.json").write_text(text)


def delta_metadata(**columns: str) -> dict[str, Any]:
    fields = [
        {"name": name, "type": "string", "metadata": {"delta.columnMapping.physicalName": stored}}
        for name, stored in columns.items()
    ]
    mapping = {"delta.columnMapping.mode": "name"}
    return {"metaData": {"schemaString": json.dumps({"fields": fields}), "configuration": mapping}}


def test_delta_finds_columns_by_their_stored_names_and_values_in_the_log(table: Path) -> None:
    parquet(table / "f", [{"c1": 1, "c2": "old"}])
    add = {"path": "f", "partitionValues": {"c3": "east"}}
    delta_log(table, [delta_metadata(id="c1", a="c2", p="c3"), {"add": add}])
    assert shown(rows_of(table, "id"), "id", "a", "p") == [(1, "old", "east")]


def test_deltas_logical_file_is_its_path_and_its_deletion_vector(table: Path) -> None:
    """A `remove` without the vector leaves the `add` with it: row 2 is there."""
    parquet(table / "f", [{"id": 1}, {"id": 2}])
    stored = b"\xd1\xd3\x39\x64" + BitMap64([0]).serialize()
    name = "deletion_vector_00000000-0000-0000-0000-000000000000.bin"
    (table / name).write_bytes(b"\x01" + struct.pack(">i", len(stored)) + stored)
    vector = {
        "storageType": "u",
        "pathOrInlineDv": "0" * 20,
        "offset": 1,
        "sizeInBytes": len(stored),
    }
    plain = {"path": "f", "partitionValues": {}}
    with_vector = {"add": {**plain, "deletionVector": vector}}
    delta_log(
        table,
        [delta_metadata(id="id"), {"add": plain}],
        [{"remove": plain}, with_vector],
        [{"remove": plain}],
    )
    assert shown(rows_of(table, "id"), "id") == [(2,)]


# Iceberg


def iceberg(table: Path, *files: dict[str, Any]) -> None:
    """Write metadata of schema `id` 1, `a` 2 with a default, and a manifest for each file."""
    text, number = {"type": "string", "name": "x"}, {"type": "long", "name": "x"}
    optional = {
        "equality_ids": {"type": "array", "items": "int"},
        "referenced_data_file": "string",
        "content_offset": "long",
        "content_size_in_bytes": "long",
    }
    fields: list[dict[str, Any]] = [
        {"name": n, "type": "string"} for n in ("file_path", "file_format")
    ]
    fields += [{"name": "content", "type": "int"}]
    fields += [{"name": n, "type": ["null", t]} for n, t in optional.items()]
    fields += [{"name": "partition", "type": {"type": "record", "name": "p", "fields": []}}]
    data_file = {"type": "record", "name": "d", "fields": fields}
    entry = [{"name": "status", "type": "int"}, {"name": "data_file", "type": data_file}]
    manifests = []
    for at, file in enumerate(files, 1):
        path = f"metadata/m{at}.avro"
        record = {
            "partition": {},
            "file_format": "PARQUET",
            **file,
            "file_path": f"/lake/{file['file_path']}",
        }
        if "referenced_data_file" in file:
            record["referenced_data_file"] = f"/lake/{file['referenced_data_file']}"
        avro(table / path, "e", entry, [{"status": 1, "data_file": record}])
        manifests.append(
            {"manifest_path": f"/lake/{path}", "partition_spec_id": 0, "sequence_number": at}
        )
    listed = [
        {"name": n, "type": t["type"]}
        for n, t in zip(manifests[0], (text, number, number), strict=True)
    ]
    avro(table / "metadata" / "list.avro", "l", listed, manifests)
    columns = [{"id": 1, "name": "id"}, {"id": 2, "name": "a_now", "initial-default": "none"}]
    columns = [{**column, "type": "string"} for column in columns]
    metadata = {
        "location": "file:/lake",
        "current-schema-id": 1,
        "schemas": [{"schema-id": 1, "fields": columns}],
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "current-snapshot-id": 7,
        "snapshots": [{"snapshot-id": 7, "manifest-list": "/lake/metadata/list.avro"}],
    }
    (table / "metadata" / "1.json").write_text(json.dumps(metadata))


def test_iceberg_finds_columns_by_field_id_and_fills_in_defaults(table: Path) -> None:
    parquet(table / "f", [{"id": 1, "a": "x"}], {"id": 1, "a": 2})
    parquet(table / "g", [{"id": 2, "a_now": "other"}], {"id": 1, "a_now": 9})
    iceberg(table, {"content": 0, "file_path": "f"}, {"content": 0, "file_path": "g"})
    assert shown(rows_of(table, "id"), "id", "a_now") == [(1, "x"), (2, "none")]


def test_icebergs_deletes_by_value_apply_to_older_files_alone(table: Path) -> None:
    for name in ("f", "h"):
        parquet(table / name, [{"id": 1}, {"id": 2}], {"id": 1})
    parquet(table / "equal", [{"id": 1}], {"id": 1})
    parquet(table / "places", [{"file_path": "/lake/f", "pos": 1}])
    iceberg(
        table,
        {"content": 0, "file_path": "f"},
        {"content": 2, "file_path": "equal", "equality_ids": [1]},
        {"content": 0, "file_path": "h"},
        {"content": 1, "file_path": "places"},
    )
    assert [(row.file, row.values["id"]) for row in rows_of(table, "id")] == [("h", 1), ("h", 2)]


def test_icebergs_vectors_take_rows_from_the_file_that_they_name(table: Path) -> None:
    parquet(table / "f", [{"id": 1}, {"id": 2}], {"id": 1})
    blob = b"\0\0\0\0\xd1\xd3\x39\x64" + BitMap64([0]).serialize() + b"crc!"
    (table / "v").write_bytes(b"skip" + blob)
    vector = {"file_format": "PUFFIN", "referenced_data_file": "f", "content_offset": 4}
    vector |= {"content": 1, "file_path": "v", "content_size_in_bytes": len(blob)}
    iceberg(table, {"content": 0, "file_path": "f"}, vector)
    assert shown(rows_of(table, "id"), "id") == [(2,)]


# Hive's transactional tables


def acid(path: Path, *operations: tuple[int, int, int, str]) -> None:
    """Write operations: what is done, by which write, to which row (by number), with what value."""
    path.parent.mkdir(parents=True)
    rows = [
        {
            "operation": what,
            "originalTransaction": 1,
            "bucket": 0,
            "rowId": number,
            "currentTransaction": by,
            "row": {"id": number, "a": value},
        }
        for what, by, number, value in operations
    ]
    orc.write_table(pa.Table.from_pylist(rows), path)


def test_hives_deletes_compacted_deltas_and_aborted_writes(table: Path) -> None:
    acid(table / "delta_0000001_0000001_0000" / "b", (0, 1, 1, "old"), (0, 1, 2, "gone"))
    acid(table / "base_0000002_v0000009" / "b", (0, 1, 1, "x"), (0, 1, 2, "gone"))
    acid(table / "delete_delta_0000003_0000003_0000" / "b", (2, 3, 2, ""))
    acid(table / "delta_0000004_0000004_0000" / "b", (0, 4, 5, "aborted"))
    acid(table / "delta_0000005_0000006" / "b", (0, 5, 6, "y"))
    acid(table / "delta_0000005_0000005_0000" / "b", (0, 5, 6, "y"))
    entries(table.parent, write_ids={"highest": 6, "aborted": [4], "open": []})
    assert shown(rows_of(table, "id"), "id", "a") == [(1, "x"), (6, "y")]


# Hudi


def hudi(table: Path, *completed: str, records: dict[str, dict[str, Any]] | None = None) -> None:
    """Write a timeline of table version 6: names of actions, and the JSON of some."""
    (table / ".hoodie").mkdir()
    settings = "hoodie.table.version=6\nhoodie.table.precombine.field=ts\n"
    (table / ".hoodie" / "hoodie.properties").write_text(settings)
    for name in completed:
        text = json.dumps((records or {}).get(name, {}))
        (table / ".hoodie" / name).write_text(text)


def base(table: Path, partition: str, group: str, instant: str, *rows: dict[str, Any]) -> None:
    parquet(table / partition / f"{group}_0-0-0_{instant}.parquet", list(rows))


def block(instant: str, content: bytes, kind: int, schema: str = "", **flags: str) -> bytes:
    header = {0: instant, **({2: schema} if schema else {}), **({7: "true"} if flags else {})}
    texts = struct.pack(">i", len(header))
    for number, text in header.items():
        texts += struct.pack(">ii", number, len(text)) + text.encode()
    body = struct.pack(">ii", 1, kind) + texts + struct.pack(">q", len(content)) + content
    body += struct.pack(">iq", 0, 0)
    return b"#HUDI#" + struct.pack(">q", len(body)) + body


def records_block(instant: str, *rows: dict[str, Any], **flags: str) -> bytes:
    fields = [{"name": n, "type": "int" if n != "a" else "string"} for n in rows[0]]
    schema = {"type": "record", "name": "r", "fields": fields}
    content = struct.pack(">ii", 3, len(rows))
    for row in rows:
        data = io.BytesIO()
        fastavro.schemaless_writer(data, fastavro.parse_schema(schema), row)
        content += struct.pack(">i", len(data.getvalue())) + data.getvalue()
    return block(instant, content, 3, json.dumps(schema), **flags)


def deletes_block(instant: str, key: str) -> bytes:
    of_key = b"\x02" + bytes([2 * len(key)]) + key.encode()
    record = b"\x02" + of_key + b"\x00" + b"\x00" + b"\x00"  # one, no partition, no order, the end
    return block(instant, struct.pack(">ii", 3, len(record)) + record, 1)


def test_hudis_logs_change_rows_and_count_if_their_commit_is_completed(table: Path) -> None:
    rows = [
        {"id": 1, "ts": 1, "a": "x"},
        {"id": 2, "ts": 1, "a": "x"},
        {"id": 3, "ts": 1, "a": "x"},
    ]
    base(table, "", "g", "001", *rows)
    log = records_block("002", {"id": 1, "ts": 2, "a": "y"}) + deletes_block("002", "2")
    log += records_block("003", {"id": 1, "ts": 3, "a": "never"})
    log += records_block("004", {"id": 3, "ts": 4}, partial="true")
    (table / ".g_001.log.1_0-0-0").write_bytes(log)
    hudi(table, "001.commit", "002.deltacommit", "003.deltacommit.inflight", "004.deltacommit")
    assert shown(rows_of(table, "id"), "id", "ts", "a") == [(1, 2, "y"), (3, 4, "x")]
    assert len(rows_of(table, "id", base_only=True)) == 3


def test_hudis_file_group_is_its_partition_and_its_id(table: Path) -> None:
    """The newest file of one partition says nothing of the other, nor does a replaced group."""
    for partition, instant in (("p=a", "001"), ("p=b", "001"), ("p=b", "002"), ("p=c", "001")):
        base(table, partition, "g", instant, {"id": 1, "ts": 1, "a": partition + instant})
    replaced = {"003.replacecommit": {"partitionToReplaceFileIds": {"p=c": ["g"]}}}
    hudi(table, "001.commit", "002.commit", "003.replacecommit", records=replaced)
    assert shown(rows_of(table, "id"), "p", "a") == [("a", "p=a001"), ("b", "p=b002")]


def test_a_version_that_comes_late_makes_a_row_of_hudi_doubtful(table: Path) -> None:
    base(table, "", "g", "001", {"id": 1, "ts": 5, "a": "x"})
    (table / ".g_001.log.1_0-0-0").write_bytes(records_block("002", {"id": 1, "ts": 4, "a": "y"}))
    hudi(table, "001.commit", "002.deltacommit")
    (row,) = rows_of(table, "id")
    assert "lower ts" in row.doubtful


def test_hudis_history_says_which_column_of_then_has_the_name_of_now(table: Path) -> None:
    base(table, "", "g", "001", {"id": 1, "ts": 1, "a": "x", "b": "of another column"})
    hudi(table, "001.commit", "002.commit")
    fields = {
        "1": [(0, "id"), (1, "ts"), (2, "a"), (3, "b")],
        "2": [(0, "id"), (1, "ts"), (2, "a_now"), (4, "b")],
    }
    schemas = [
        {
            "version_id": int(at),
            "fields": [{"id": i, "name": n, "type": "string"} for i, n in columns],
        }
        for at, columns in fields.items()
    ]
    (table / ".hoodie" / ".schema").mkdir()
    text = json.dumps({"schemas": schemas})
    (table / ".hoodie" / ".schema" / "002.schemacommit").write_text(text)
    assert shown(rows_of(table, "id"), "id", "a_now", "b") == [(1, "x", None)]


def test_parts_of_structs_and_of_elements_are_found_by_their_ids() -> None:
    then = {1: "s", 2: "s.a", 3: "s.b", 4: "l", 5: "l.element", 6: "l.element.c"}
    now = {1: "s", 3: "s.a", 7: "s.b", 4: "l", 5: "l.element", 6: "l.element.d"}
    row = {"s": {"a": "dropped", "b": "renamed"}, "l": [{"c": 1}, None]}
    expected = {"s": {"a": "renamed", "b": None}, "l": [{"d": 1}, None]}
    assert table_files.by_ids(row, then, now) == expected


def test_ids_of_parts_are_read_from_files_and_schemas(tmp_path: Path) -> None:
    id_ = "PARQUET:field_id"
    part = pa.field("a", pa.int32(), metadata={id_: "2"})
    schema = pa.schema([pa.field("s", pa.struct([part]), metadata={id_: "1"})])
    pq.write_table(pa.Table.from_pylist([{"s": {"a": 5}}], schema=schema), tmp_path / "f")
    struct_ = {"type": "struct", "fields": [{"id": 2, "name": "b", "type": "int"}]}
    now = dict(table_files.schema_paths([{"id": 1, "name": "s", "type": struct_}]))
    stored = table_files.read_stored(tmp_path / "f")
    assert stored is not None
    assert table_files.by_ids(stored.rows[0], stored.paths, now) == {"s": {"b": 5}}
