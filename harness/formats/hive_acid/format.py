"""Transactional tables of Hive ("full ACID"): each write has ORC files of its own.

Rows are deleted by files beside those that hold them, and the metastore knows which files count.
HiveServer2 writes; what it refuses of a schema change is an answer.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final

from harness.core.setting_values import SettingValues
from harness.engines.format_facts import FormatFacts
from harness.formats.api import (
    NO_CATALOG,
    Changes,
    Committed,
    FileLayout,
    FileRows,
    Format,
    VariantSettings,
)
from harness.formats.hive import hiveql
from harness.formats.hive.format import CASCADES, SCHEMA_CHANGES, follows_anyway, hive_type
from harness.formats.hive.hiveql import NAME as TABLE_NAME
from harness.formats.hive_acid import files as hive_acid_files
from harness.model.canonical import MapValue, Value, text_of
from harness.model.datatypes import Array, Map, Struct
from harness.model.file_facts import FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.schema import Field
from harness.model.table import Table
from harness.model.truth import Row, Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory, WriteIds
from harness.scenario.definition import CASCADE, Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.merge import Merge, Mutate
from harness.scenario.operations.row_writes import Insert, Overwrite, OverwriteScope, Touch, Upsert
from harness.scenario.operations.services import Compact
from harness.scenario.operations.spark_sql import columns_in_order, quoted
from harness.scenario.operations.unfinished_writes import (
    AbortTransactions,
    FailedWrite,
    KilledWrite,
)
from harness.scenario.statements import (
    ABORT,
    COMMIT,
    LOCATION,
    Mutation,
    Sql,
    Statement,
    TransactionSql,
    of_table,
)


def _batch(before: Truth, written: Iterable[Row], gone: Iterable[Row], ends: str) -> Mutation:
    table = before.table
    fields = [f for f in columns_in_order(before) if f.name not in table.partition_by]
    key = [field for field in fields if field.name == table.key]
    rows = [
        *(
            _message(before, "update" if r.key in before.rows else "insert", r, fields)
            for r in written
        ),
        *(_message(before, "delete", row, key) for row in gone),
    ]
    columns = tuple((field.name, hive_type(field.type)) for field in fields)
    return Mutation(columns, table.key, tuple(rows), ends)


def _message(truth: Truth, do: str, row: Row, fields: Iterable[Field]) -> dict[str, object]:
    """Return what is told of a row; of one to delete nothing but its identifier counts."""
    parts = [row.of(truth.schema.find(name)) for name in truth.table.partition_by]
    values = {field.name: _json(row.of(field), field) for field in fields}
    return {"do": do, "partition": list(map(text_of, parts)), "row": values}


def _json(value: Value, field: Field) -> object:
    """Return a stored value (structs by child ids) as Hive's own parser of JSON takes it."""
    match field.type:
        case _ if value is None:
            return None
        case Struct():
            return {child.name: _json(value.get(child.id), child) for child in field.children}
        case Array():
            return [_json(element, field.children[0]) for element in value]
        case Map() if isinstance(value, MapValue):
            return {text_of(k): _json(v, field.children[1]) for k, v in value.pairs}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal | datetime.date):  # a moment is one as well
        return str(value)
    return value


SESSION: Final = {
    "hive.support.concurrency": "true",
    "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
    "hive.exec.dynamic.partition.mode": "nonstrict",
}
"""Hive documentation, "Hive Transactions", "Configuration"."""
BUCKETS: Final = "buckets"
COMPACTION: Final = "compaction"
LOCK_WAIT: Final = "lock_wait"
"""How often a session asks for a lock that another transaction has."""
SETTINGS: Final = {
    BUCKETS: SettingValues(("none", "1", "2"), "the number of buckets by the key; if absent, none"),
    COMPACTION: SettingValues(
        ("major", "minor"), "what `compact` asks for; major, also if absent, makes one base file"
    ),
    CASCADE: CASCADES,
    LOCK_WAIT: SettingValues(("usual", "short"), "`short`: `hive.lock.numretries` is 3"),
}
RETRIES: Final = {"hive.lock.numretries": "3"}
"""What a session of `short` is told; by itself it asks 100 times, up to a minute apart."""


class HiveAcid(Format):
    NAME = "hive-acid"
    kind: TableKind = TableKind(Family.HIVE_ACID)
    reader_facts = FormatFacts(
        "hive-acid", "hive", "orc", transactional=True, written_by="hive-acid"
    )
    settings = SETTINGS
    partitions_last = True

    def file_layout(self, settings: VariantSettings) -> FileLayout:
        return FileLayout(Changes.NEW_FILE, partitions=False)

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        names = {name_of(step.operation) for step in scenario.steps}
        if settings.get(CASCADE) == "off" and (why := follows_anyway(scenario)):
            return why
        if settings.get(COMPACTION) == "minor" and "compact" not in names:
            return "compaction=minor: no step compacts"
        return ""

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        return {**SESSION, **RETRIES} if settings.get(LOCK_WAIT) == "short" else SESSION

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        types = dict(table.columns)
        columns = [(n, t) for n, t in table.columns if n not in table.partition_by]
        parts = hiveql.definition([(name, types[name]) for name in table.partition_by])
        partitioned = f" partitioned by ({parts})" if parts else ""
        number = settings.get(BUCKETS, "none")
        clustered = f" clustered by ({quoted(table.key)}) into {number} buckets"
        return (
            Sql(
                f"create table {TABLE_NAME} ({hiveql.definition(columns)}){partitioned}"
                f"{'' if number == 'none' else clustered} stored as orc "
                f"location 'file:{LOCATION}' tblproperties ('transactional' = 'true')"
            ),
        )

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        if name_of(operation) in SCHEMA_CHANGES:
            cascade = bool(after.table.partition_by) and settings.get(CASCADE) != "off"
            return (Sql(hiveql.changed_columns(before, after, cascade=cascade)),)
        # Hive lets no update set the columns of buckets and of partitions.
        bucketed = settings.get(BUCKETS, "none") != "none"
        stay = (*((after.table.key,) if bucketed else ()), *after.table.partition_by)
        context = StepContext(self.kind, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        match operation:
            case Insert() | Upsert() | Touch():
                return (Sql(hiveql.whole_rows(before, after, stay)),)
            case Merge():
                return of_table([operation.worded(before, after, stay, listed=False)])
            case Mutate():
                written = [row for key, row in after.rows.items() if before.rows.get(key) != row]
                gone = [row for key, row in before.rows.items() if key not in after.rows]
                return (_batch(before, written, gone, COMMIT),)
            case KilledWrite():
                return (TransactionSql(hiveql.failed_rows(before, after, stay)),)
            case FailedWrite():
                return (_batch(before, after.failed, (), ABORT),)
            case Overwrite(of=OverwriteScope.TABLE):
                return (Sql(hiveql.overwritten(before, after)),)
        return of_table(operation.sql(before, after))

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        return hive_acid_files.instants(folder, _write_ids(entries))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        # A truncation has no number, and takes all folders away: the folders tell it.
        ids = _write_ids(entries)
        there = [path.path.name for path in hive_acid_files.live(folder, ids)]
        columns = [entry.columns for entry in entries if entry.name == TABLE]
        begun = tuple(map(str, (*ids.aborted, *ids.open)))
        writes = hive_acid_files.instants(folder, ids)
        aborted = tuple(map(str, ids.aborted))
        return Committed(writes, json.dumps([columns, there]), undone=aborted, begun=begun)

    def instants_before(self, folder: Path, instant: str) -> tuple[str, ...]:
        return hive_acid_files.joined(folder, instant)

    def timeline(self, folder: Path) -> tuple[str, ...]:
        # The folders of all writes: only the metastore knows which were committed.
        return tuple(folder.path.name for folder in hive_acid_files.folders(folder))

    def missing_effect(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        kinds = {fact.kind for fact in before}
        if isinstance(operation, Compact) and (FileKind.LOG in kinds or len(before) > 1):
            return f"the table has {len(before)} files of rows and deletions, as before"
        if isinstance(operation, AbortTransactions):
            return "no transaction of the table was aborted"
        return ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        return hive_acid_files.file_rows(path, fact)

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        return hive_acid_files.facts(folder, key, _write_ids(catalog.now))


def _write_ids(entries: Sequence[CatalogEntry]) -> WriteIds:
    return next((entry.write_ids for entry in entries if entry.write_ids), WriteIds())


FORMATS = (HiveAcid(),)
