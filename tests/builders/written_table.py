"""Tables whose folders are written file by file, as good or bad writers leave them.

Each format's own replay reads them, so what it takes for a part of the table is judged as well.
"""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc
from pyroaring import BitMap64

from harness import formats
from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.formats.delta import vectors
from harness.formats.files import data_files
from harness.formats.files.deletion_vectors import MAGIC
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi.log import BlockKind
from harness.judge.recorded_variant import RecordedVariant
from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.truth import row_values
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory, WriteIds
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from tests.builders.iceberg_folder import Entry, IcebergFolder
from tests.builders.simulated_reader import Reply, columns_of
from tests.builders.table_story import Story

Record = Mapping[str, Value]
RECORD_KEY: Final = "_hoodie_record_key"


@dataclass
class WrittenTable:
    """A folder, and the records of its states so far."""

    path: Path
    story: Story
    format: str
    step: int = 0
    states: list[StateRecord] = field(default_factory=list)
    write_ids: WriteIds = field(default_factory=WriteIds)
    iceberg: IcebergFolder = field(init=False)

    def __post_init__(self) -> None:
        self.iceberg = IcebergFolder(self.path)

    @property
    def instant(self) -> str:
        return str(self.step) if not self.format.startswith("hudi") else f"2024{self.step:04}"

    def records(self, texts: str) -> list[Record]:
        """Return rows by their keys: of the step, or of another one, `"1 2@1"`."""
        return [self.record(text) for text in texts.split()]

    def record(self, text: str) -> Record:
        key, _, step = text.partition("@")
        truth = self.story.history[int(step or self.step)]
        rows = {**truth.rows, **{row.key: row for row in truth.failed}}
        values = row_values(rows[key], truth.schema)
        return dict(zip(truth.schema.names, values, strict=True))

    def file(self, name: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def after(self, actions: Sequence[Action], outcome: OutcomeKind) -> None:
        """Let a step do something to the folder, and record the state that it leaves."""
        for action in actions:
            action(self)
        shape = formats.load(self.format)
        columns = {"cols": [{"name": n, "type": "string"} for n in self.story.truth.schema.names]}
        entry = CatalogEntry("t", {"sd": columns}, write_ids=self.write_ids)
        made = shape.facts(self.path, "id", CatalogHistory((entry,)))
        seen: set[FileFact] = {fact for state in self.states for fact in state.files}
        new = [at for at, fact in enumerate(made) if fact not in seen]
        values = tuple(data_files.read(self.path, made, new, shape.file_rows))
        applied = outcome is OutcomeKind.APPLIED
        before, now = self.story.history[max(self.step - 1, 0)], self.story.history[self.step]
        sql = self.story.operations[self.step - 1].sql(before, now) if self.step else ()
        begun = self.step in now.undone
        instants = shape.instants(self.path, (entry,))
        others = dict(self.states[-1].others) if self.states else {}
        known = {state.outcome.instant for state in self.states} | others.keys()
        fresh = [at for at in instants if at not in known]
        mine = fresh.pop() if applied and not begun and fresh else ""
        others |= dict.fromkeys(fresh, max(self.step - 1, 0))
        result = Outcome(self.step, outcome, mine, statements=tuple(sql))
        self.states.append(
            StateRecord("v", result, "d", made, values=values, others=tuple(others.items()))
        )
        self.step += 1

    def recorded(self) -> RecordedVariant:
        steps = tuple(Step(operation) for operation in self.story.operations)
        scenario = Scenario("family/name", self.story.disk.table, steps)
        writers = ("writer",) * (len(steps) + 1)
        variant = Variant("variant", scenario, self.format, {}, writers)
        mor = formats.load(self.format).merge_on_read
        return RecordedVariant(variant, mor, tuple(self.states))

    def shown(self, texts: str, **instead: Mapping[str, Value]) -> Reply:
        """Return an answer of rows by their keys; `instead`: other values, by `k` and the key."""
        schema, rows = self.story.truth.schema, list[tuple[Value, ...]]()
        for text in texts.split():
            values = {**self.record(text), **instead.get(f"k{text.partition('@')[0]}", {})}
            rows.append(tuple(values[name] for name in schema.names))
        return Reply(columns_of(schema), tuple(rows))


Action = Callable[[WrittenTable], None]
"""What a writer does to a folder in a step."""


def _columns(records: Sequence[Record]) -> dict[str, list[Value]]:
    return {name: [record[name] for record in records] for name in records[0]} if records else {}


# Hudi: the timeline of layout 1, base files of Parquet, log files of one block or more.


def hudi_base(group: str, keys: str, *, folder: str = "") -> Action:
    def write(table: WrittenTable) -> None:
        columns = _columns(table.records(keys))
        columns = {RECORD_KEY: columns["id"], **columns}
        pq.write_table(
            pa.table(columns), table.file(f"{folder}{group}_0-1-1_{table.instant}.parquet")
        )

    return write


def hudi_log_file(
    group: str, keys: str = "", *, gone: str = "", columns: str = "", folder: str = ""
) -> Action:
    """Write a log file; `columns`: those of a block of partial updates, which has no others."""

    def write(table: WrittenTable) -> None:
        blocks = b""
        if gone:
            blocks += _deletes(table.instant, gone.split())
        if keys:
            records = table.records(keys)
            names = columns.split() or list(records[0])
            rows = [{RECORD_KEY: r["id"], **{name: r[name] for name in names}} for r in records]
            blocks += _rows(table.instant, rows, partial=bool(columns))
        table.file(f"{folder}.{group}_{table.instant}.log.1_0-1-1").write_bytes(blocks)

    return write


def hudi_taken_back(group: str, step: int) -> Action:
    """Write the block of a rollback, which takes back what the group has of a step's instant."""

    def write(table: WrittenTable) -> None:
        header = {hudi_log.TARGET_INSTANT_TIME: f"2024{step:04}", 3: "0"}
        block = hudi_block(table.instant, BlockKind.COMMAND, b"", header)
        table.file(f".{group}_{table.instant}.log.2_0-1-1").write_bytes(block)

    return write


def _rows(instant: str, records: Sequence[Record], *, partial: bool) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(_columns(records)), sink)
    fields = [{"name": name, "type": ["null", "string"]} for name in records[0]]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    more = {hudi_log.IS_PARTIAL: "true"} if partial else {}
    header = {hudi_log.SCHEMA: schema, **more}
    return hudi_block(instant, BlockKind.PARQUET_DATA, sink.getvalue(), header)


def _deletes(instant: str, keys: Sequence[str]) -> bytes:
    records = [{"recordKey": key, "partitionPath": "", "orderingVal": None} for key in keys]
    schema, sink = fastavro.parse_schema(hudi_log._DELETES), io.BytesIO()
    fastavro.schemaless_writer(sink, schema, {"deleteRecordList": records})
    content = struct.pack(">ii", hudi_log.CONTENT_VERSION, sink.tell()) + sink.getvalue()
    return hudi_block(instant, BlockKind.DELETE, content, {})


def hudi_block(instant: str, kind: BlockKind, content: bytes, header: Mapping[int, str]) -> bytes:
    texts = [(at, text.encode()) for at, text in {hudi_log.INSTANT_TIME: instant, **header}.items()]
    head = struct.pack(">i", len(texts))
    head += b"".join(struct.pack(">ii", at, len(text)) + text for at, text in texts)
    block = struct.pack(">ii", hudi_log.LOG_VERSION, kind) + head
    block += struct.pack(">q", len(content)) + content + struct.pack(">iq", 0, 0)
    return hudi_log.MAGIC + struct.pack(">q", len(block)) + block


def hudi_done(action: str = "deltacommit", *, step: int | None = None) -> Action:
    """Complete the write of a step, or another `action`: `deltacommit.inflight`."""

    def write(table: WrittenTable) -> None:
        instant = table.instant if step is None else f"2024{step:04}"
        table.file(f".hoodie/{instant}.{action}").touch()

    return write


def hudi_forgotten(step: int) -> Action:
    """Archive the write of a step, whose instant is no longer on the timeline."""
    return lambda table: table.file(f".hoodie/2024{step:04}.deltacommit").unlink()


def hudi_replaced(groups: Mapping[str, Sequence[str]]) -> Action:
    """Complete a write that takes away file groups, by the folders of their partitions."""

    def write(table: WrittenTable) -> None:
        record = json.dumps({"partitionToReplaceFileIds": groups})
        table.file(f".hoodie/{table.instant}.replacecommit").write_text(record)

    return write


# Delta: commits as JSON, deletion vectors inline.


def delta_data(name: str, keys: str) -> Action:
    def write(table: WrittenTable) -> None:
        pq.write_table(pa.table(_columns(table.records(keys))), table.file(name))

    return write


def vector(*positions: int) -> Mapping[str, Any]:
    stored = MAGIC + BitMap64(positions).serialize()
    alphabet = str.maketrans(vectors._B85, vectors._Z85)
    text = base64.b85encode(stored).decode().translate(alphabet)
    stored_inline = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(stored)}
    return {"deletionVector": {**stored_inline, "cardinality": len(positions)}}


def added(name: str, marks: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    return {"add": {"path": name, "dataChange": True, **(marks or {})}}


def removed(name: str, marks: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    return {"remove": {"path": name, "dataChange": True, **(marks or {})}}


def delta_commit(*actions: Mapping[str, Any]) -> Action:
    def write(table: WrittenTable) -> None:
        names = table.story.truth.schema.names
        fields = [{"name": name, "type": "string", "metadata": {}} for name in names]
        schema = json.dumps({"type": "struct", "fields": fields})
        start = ({"metaData": {"schemaString": schema}},) if not table.step else ()
        version = len(list(table.path.glob("_delta_log/*.json")))
        lines = map(json.dumps, (*start, *actions))
        table.file(f"_delta_log/{version:020}.json").write_text("\n".join(lines))

    return write


# Iceberg: a snapshot has its step for an id, and the table is partitioned by a bucket of the key.


def iceberg_data(name: str, keys: str) -> Action:
    def write(table: WrittenTable) -> None:
        table.iceberg.data(name, **_columns(table.records(keys)))

    return write


def iceberg_deletes(name: str, *places: tuple[str, int]) -> Action:
    return lambda table: _ignored(table.iceberg.deletes(name, *places))


def iceberg_values(name: str, keys: str) -> Action:
    return lambda table: _ignored(table.iceberg.data(name, id=keys.split()))


def iceberg_vector(name: str, *positions: int) -> Action:
    return lambda table: _ignored(table.iceberg.vector(name, *positions))


def iceberg_commit(
    *entries: Entry, spec: int = 0, forget: bool = False, staged: bool = False
) -> Action:

    def write(table: WrittenTable) -> None:
        if entries:
            table.iceberg.commit(table.step, *entries, spec=spec, forget=forget, staged=staged)
        fields = table.story.truth.schema.fields
        columns = [
            {"id": at, "name": field.name, "required": False, "type": str(field.type)}
            for at, field in enumerate(fields, start=1)
        ]
        bucket = {"source-id": 1, "field-id": 1000, "name": "b", "transform": "bucket[2]"}
        specs = [{"spec-id": at, "fields": [bucket]} for at in (0, 1)]
        more = {"partition-specs": specs, "schemas": [{"schema-id": 0, "fields": columns}]}
        table.iceberg.metadata(table.step, **more)

    return write


def _ignored(_: object) -> None:
    return None


# Hive: folders of deltas, and the numbers of writes that the metastore knows.

_BUCKET: Final = 536870912


def hive_delta(keys: str = "", *, gone: Sequence[tuple[int, int]] = (), number: int = 0) -> Action:
    """Write a folder of rows, or of deletions of rows by write id and row id.

    `number`: of the write, where it is not that of its step.
    """

    def write(table: WrittenTable) -> None:
        records = table.records(keys)
        fields = [(name, pa.string()) for name in table.story.truth.schema.names]
        schema = pa.schema(
            [
                ("operation", pa.int32()),
                ("originalTransaction", pa.int64()),
                ("bucket", pa.int32()),
                ("rowId", pa.int64()),
                ("row", pa.struct(fields)),
            ]
        )
        write = number or table.step
        kind = "delete_delta" if gone else "delta"
        folder = f"{kind}_{write:07}_{write:07}_0000"
        rows: list[tuple[int, int, int, Record | None]]
        rows = [(0, write, at, record) for at, record in enumerate(records)]
        rows += [(2, write_id, at, None) for write_id, at in gone]
        names = ("operation", "originalTransaction", "rowId", "row")
        story = [{**dict(zip(names, row, strict=True)), "bucket": _BUCKET} for row in rows]
        orc.write_table(pa.Table.from_pylist(story, schema), table.file(f"{folder}/bucket_00000"))

    return write


def hive_ids(highest: int, *, aborted: Sequence[int] = (), open_: Sequence[int] = ()) -> Action:
    def write(table: WrittenTable) -> None:
        table.write_ids = WriteIds(highest, tuple(aborted), tuple(open_))

    return write
