"""What copy-on-write and merge-on-read tables of Hudi have in common.

Writes that are more than SQL are DataFrames, or calls of `BaseHoodieWriteClient` (0.15.0, 1.0.2,
1.2.0), which does not tell the metastore.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.engines.format_facts import FormatFacts, Timeline
from harness.engines.time_travel import COMPLETED, NEXT_COMPLETED, REQUESTED
from harness.formats.api import (
    BY_FRAME,
    CREATED_BY,
    NO_CATALOG,
    Committed,
    FileRows,
    Format,
    StoredMetadata,
    VariantSettings,
)
from harness.formats.files import avro, data_files
from harness.formats.hudi import files as hudi_files
from harness.formats.hudi import records, timeline
from harness.formats.hudi import settings as hudi_settings
from harness.formats.hudi.files import HudiStatistics
from harness.formats.hudi.settings import (
    ALLOW_DROPS,
    CONSISTENT,
    EVOLVES,
    INDEX,
    INSERT_OPERATION,
    METADATA_TABLE,
    OPERATION,
    UPSERT,
    URL_ENCODED,
    WITH_STATISTICS,
)
from harness.formats.spark_statements import create_table
from harness.model.commit import Moment
from harness.model.datatypes import NULL_ALONE, DataType
from harness.model.file_facts import ColumnStatistics, FileFact
from harness.model.identifiers import TABLE
from harness.model.schema import Table, schema_of
from harness.model.schema_history import SchemaHistory
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.definition import PAST_VIEWS, SCHEMA_CHANGES, WRITE_CLIENT, Scenario
from harness.scenario.operations.api import Family, Operation, StepContext, StepTrace, TableKind
from harness.scenario.operations.columns import (
    AddColumn,
    ChangeNullability,
    ChangeType,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from harness.scenario.operations.row_writes import Insert, MetadataWay, MoveRow, WriteWithMetadata
from harness.scenario.operations.services import (
    RETAINED,
    Archive,
    Clean,
    Cluster,
    Compact,
    SetTableVersion,
)
from harness.scenario.operations.snapshots import Restore, Rollback, Savepoint
from harness.scenario.operations.spark_sql import select_none, text
from harness.scenario.operations.unfinished_writes import BeginWrite, FailedWrite, KilledWrite
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.statements import (
    DATABASE,
    LOCATION,
    TABLE_ARGUMENT,
    ClientCall,
    FrameWrite,
    Sql,
    Statement,
    of_table,
    under,
)

PREFIX: Final = "hoodie.datasource.write.commitmeta.key.prefix"
"""Options whose names begin with it are copied into the commit (Hudi documentation)."""
WRITTEN_BY_HUDI: Final = ("schema", "latest_schema")
"""What Hudi itself writes into the extra metadata of a batch write or schema change."""


def write_with_metadata(
    operation: WriteWithMetadata, before: Truth, after: Truth, settings: VariantSettings
) -> tuple[Statement, ...]:
    """Return a write that is told of metadata, and what makes the next one forget it."""
    options = {PREFIX: operation.prefix, **operation.metadata}
    if operation.by is MetadataWay.FRAME:
        frame = WriteFrame(operation.keys)
        (write,) = frame_write(frame, before, after, settings)
        return (replace(write, options=(*write.options, *options.items())),)
    writes = of_table(operation.sql(before, after))
    if operation.by is MetadataWay.TABLE_OPTIONS:
        # The catalog's properties are changed before and after: the table has no such.
        listed = ", ".join(f"{text(name)} = {text(value)}" for name, value in options.items())
        names, table = ", ".join(map(text, options)), f"alter table {DATABASE}.{TABLE}"
        first = [f"{table} set tblproperties ({listed})"]
        back = [f"{table} unset tblproperties if exists ({names})"]
    else:
        if operation.by is MetadataWay.QUOTED_SET:
            options[PREFIX] = text(operation.prefix)
        first = [f"set {name}={value}" for name, value in options.items()]
        back = [f"reset {name}" for name in options]
    return (
        *(Sql(sql, commits=False) for sql in first),
        *writes,
        *(Sql(sql, in_any_case=True, commits=False) for sql in back),
    )


SchemaChange = AddColumn | DropColumn | RenameColumn | MoveColumn | ChangeType | ChangeNullability


def client_calls(change: SchemaChange, options: Sequence[tuple[str, str]]) -> tuple[Statement, ...]:
    """Return the call of a schema change; `options`: the table's own properties."""

    def schema(type_: DataType) -> str:
        return json.dumps(avro.schema(type_, change.name.rpartition(".")[2]))

    def position(after: str | None, *, first: bool) -> tuple[str, ...]:
        """Return the column that another one stands behind, and how: nothing at the end."""
        if first:
            return "", "FIRST"
        parent, dot, _ = change.name.rpartition(".")
        return (f"{parent}{dot}{after}", "AFTER") if after else ()

    arguments: tuple[str, ...]
    match change:
        case AddColumn(_, type_, first, after):
            at = position(after, first=first)
            no_comment = ("",) if at else ()
            method, arguments = "addColumn", (schema(type_), *no_comment, *at)
        case DropColumn():
            method, arguments = "deleteColumns", ()
        case RenameColumn(_, to):
            method, arguments = "renameColumn", (to,)
        case MoveColumn(_, first, after):
            method, arguments = "reOrderColPosition", position(after, first=first)
        case ChangeType(_, to):
            method, arguments = "updateColumnType", (schema(to),)
        case ChangeNullability(_, nullable):
            method, arguments = "updateColumnNullability", (str(nullable).lower(),)
    return (ClientCall(method, (change.name, *arguments), tuple(options)),)


RECONCILE: Final = "hoodie.datasource.write.reconcile.schema"
USUAL: Final = {
    "hoodie.table.name": TABLE,
    "hoodie.datasource.write.operation": "upsert",
    # A table made by SQL has such folders.
    "hoodie.datasource.write.hive_style_partitioning": "true",
    # The session allows `alter table` to drop columns; a frame that lacks one means none of it.
    ALLOW_DROPS: "false",
    # SQL tells the metastore by itself after each write (`ProvidesHoodieConfig`), and so.
    "hoodie.datasource.hive_sync.enable": "true",
    "hoodie.datasource.hive_sync.mode": "hms",
    "hoodie.datasource.hive_sync.support_timestamp": "true",
    "hoodie.datasource.hive_sync.database": DATABASE,
    "hoodie.datasource.hive_sync.table": TABLE,
}


TYPES: Final = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}


def frame_creation(
    table: Table, settings: VariantSettings, properties: Sequence[tuple[str, str]]
) -> tuple[FrameWrite, ...]:
    """Return the write of a DataFrame without rows: it makes the table with `properties`."""
    listed = "\n".join(f"{name}={value}" for name, value in properties)
    type_ = {"hoodie.datasource.write.table.type": TYPES[dict(properties)["type"]]}
    options = {
        **_frame_options(table, settings, type_),
        "hoodie.datasource.hive_sync.table_properties": listed,
        "hoodie.datasource.hive_sync.serde_properties": listed,
    }
    query = select_none(schema_of(table.columns).fields)
    return (FrameWrite(query, "hudi", tuple(options.items())),)


def frame_write(
    operation: WriteFrame, before: Truth, after: Truth, settings: VariantSettings
) -> tuple[FrameWrite, ...]:
    """Return the write of one DataFrame, whose writer does not ask the catalog for properties."""
    (query,) = operation.sql(before, after)
    reconcile = {RECONCILE: str(operation.reconcile).lower()}
    options = _frame_options(after.table, settings, reconcile)
    return (FrameWrite(query, "hudi", tuple(options.items())),)


def _frame_options(
    table: Table, settings: VariantSettings, first: Mapping[str, str]
) -> dict[str, str]:
    options = {**USUAL, **first, "hoodie.datasource.write.recordkey.field": table.key}
    if table.order_by:
        options["hoodie.datasource.write.precombine.field"] = ",".join(table.order_by)
    if table.partition_by:
        by = ",".join(table.partition_by)
        options["hoodie.datasource.write.partitionpath.field"] = by
        options["hoodie.datasource.hive_sync.partition_fields"] = by
    declared = *hudi_settings.merge_properties(table), *hudi_settings.properties(settings)
    return options | dict(declared)


def begin(library: str, table_version: str) -> str:
    """Return what the begin of an incremental question for all writes after one names of it.

    Up to table version 6 it is the requested time of a write, exclusive (Hudi 0.15 documentation,
    `hoodie.datasource.read.begin.instanttime`), as for Hive's settings in all versions; later a
    time of completion: inclusive in 1.0, exclusive since 1.1 (apache/hudi#13982, #18954).

    >>> begin("0.15.0", "6"), begin("1.2.0", "9")
    ('when the write of step {step} was requested', 'when the write of step {step} was completed')
    """
    if int(table_version) <= 6:  # noqa: PLR2004 - see above
        return REQUESTED
    major, minor = re.findall(r"\d+", library)[:2]
    return COMPLETED if (int(major), int(minor)) >= (1, 1) else NEXT_COMPLETED


PAST: Final = Timeline(
    REQUESTED,
    begin,
    where=(
        "of those completed, by the last time in their names:",
        "{location}/.hoodie (or timeline in it) has files <requested>[_<completed>].<action>",
        f"of these actions: {', '.join(timeline.WRITES)}",
    ),
)
"""Where the moments of a table stand: Hudi's specification, "Timeline"."""

SESSION: Final = {
    EVOLVES: "true",
    # `insert` of an existing key replaces its row, as `upsert` and `touch` mean it.
    OPERATION: UPSERT,
    # Else the next insert is packed into the newest file group and rewrites it.
    "hoodie.parquet.small.file.limit": "0",
    # Else a write compacts by itself after five delta commits, and schema changes are such.
    "hoodie.compact.inline": "false",
    # Else `compact` does nothing before five delta commits, and says that all is well.
    "hoodie.compact.inline.max.delta.commits": "1",
    # Hudi 1.2 refuses to drop or rename a column without it; older versions do not know it.
    ALLOW_DROPS: "true",
    # For speed: tables here have a handful of rows.
    "hoodie.embed.timeline.server": "false",
    "hoodie.insert.shuffle.parallelism": "2",
    "hoodie.upsert.shuffle.parallelism": "2",
    "hoodie.delete.shuffle.parallelism": "2",
    # A base file is 435 KB by default, of which the bloom filter is nearly all.
    "hoodie.index.bloom.num_entries": "100",
    "hoodie.bloom.index.filter.dynamic.max.entries": "100",
}

UNSUPPORTED_TYPES: Final = frozenset(
    {"tinyint", "smallint", "char", "varchar", "variant", *NULL_ALONE}
)
"""Every value goes through Avro, which has none of them (Avro specification, "Primitive Types")."""


@dataclass(frozen=True, slots=True)
class Hudi(Format):
    NAME: str
    tables: Mapping[str, str]
    """The catalog entry for each view."""
    merge_on_read: bool = False

    past_views = PAST_VIEWS
    settings = hudi_settings.SETTINGS
    unsupported_types = UNSUPPORTED_TYPES
    # Spark moves them in `create table`, and a column that is added later goes in front of them.
    partitions_last = True

    @property
    def kind(self) -> TableKind:  # type: ignore[override]
        return TableKind(Family.HUDI, merge_on_read=self.merge_on_read)

    @property
    def reader_facts(self) -> FormatFacts:
        # Spark goes by the schema that a table has of its own (`HoodieCatalogTable`).
        return FormatFacts(self.NAME, "hudi", schema_in_table=frozenset({"spark"}), past=PAST)

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(self.tables)

    def table_for(self, view: str) -> str:
        # The past is asked for where the newest rows are.
        return self.tables["snapshot" if view in PAST_VIEWS else view]

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        if settings.get(INDEX) == CONSISTENT and not self.merge_on_read:
            return f"index={CONSISTENT}: only merge-on-read tables can have it"
        return next(hudi_settings.problems(settings, scenario), "")

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        return {**SESSION, **hudi_settings.session(settings, names)}

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        # SQL has partition columns behind the others, a DataFrame where they are declared.
        if settings.get(CREATED_BY) == BY_FRAME:
            return frame_creation(table, settings, self._properties(table, settings))
        return (create_table(table, "hudi", LOCATION, self._properties(table, settings)),)

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        if isinstance(operation, SchemaChange) and settings.get(SCHEMA_CHANGES) == WRITE_CLIENT:
            return client_calls(operation, tuple(hudi_settings.properties(settings)))
        context = StepContext(self.kind, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        if isinstance(operation, WriteFrame):
            return frame_write(operation, before, after, settings)
        if isinstance(operation, WriteWithMetadata):
            return write_with_metadata(operation, before, after, settings)
        # Common SQL, under settings of the session that end with it.
        statements = of_table(operation.sql(before, after))
        if isinstance(operation, MoveRow):
            return hudi_settings.in_any_partition(statements, settings)
        insert_operation = settings.get(INSERT_OPERATION, UPSERT)
        if insert_operation == UPSERT or not isinstance(operation, Insert):
            return statements
        return under(OPERATION, insert_operation, UPSERT, statements)

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        return tuple(records.local(folder).writes)

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        # A schema change makes an instant as well (`AlterTableCommand.commitWithSchema`).
        table = records.local(folder)

        def done(*actions: str) -> tuple[str, ...]:
            return tuple(entry.requested for entry in timeline.completed(table.entries, actions))

        return Committed(
            tuple(table.writes),
            scheduled=timeline.scheduled(table.entries),
            cleanings=done("clean"),
            table_version=table.version,
            savepoints=done("savepoint"),
            undone=done("restore", "rollback"),
            begun=timeline.begun(table.entries),
            inflight=timeline.begun(table.entries, timeline.INFLIGHT),
        )

    def instants_before(self, folder: Path, instant: str) -> tuple[str, ...]:
        # A compaction takes in what was completed when it was requested.
        writes = records.local(folder).writes
        return tuple(write for write, entry in writes.items() if entry.ended < instant)

    def moment(self, folder: Path, instant: str) -> Moment:
        writes = records.local(folder).writes
        ended = writes[instant].ended
        following = (entry.ended for entry in writes.values() if entry.ended > ended)
        return Moment(instant, ended, next(following, ""))

    def table_version(self, folder: Path) -> str:
        return records.local(folder).version

    def timeline(self, folder: Path) -> tuple[str, ...]:
        return tuple(entry.text for entry in records.local(folder).entries)

    def schema_history(self, folder: Path) -> SchemaHistory | None:
        return records.read_history(records.local(folder))

    def stored_metadata(self, folder: Path, instant: str) -> StoredMetadata:
        at, table = f"{TABLE_ARGUMENT}, instant_time => '{instant}'", records.local(folder)
        stored = timeline.extra_metadata(table.record(table.writes[instant]))
        return StoredMetadata(stored, f"call show_commit_extra_metadata({at})", WRITTEN_BY_HUDI)

    def missing_effect(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        if isinstance(operation, SetTableVersion):
            there = self.table_version(folder)
            return "" if there == str(operation.version) else f"the table version is {there}"
        scheduled = operation.trace() is StepTrace.SCHEDULED
        trace = "was scheduled" if scheduled else "is on the timeline"
        match operation:
            case Compact():
                what, count = f"compaction {trace}", hudi_files.uncompacted(before)
                why = "log blocks wait for one"
            case Cluster():
                # Hudi 1.0.2 leaves a file group as it is that is alone in its partition.
                what, count = f"clustering {trace}", hudi_files.together(before)
                why = "file groups share a partition"
            case Clean():
                what, count = f"cleaning {trace}", hudi_files.superseded(before)
                why = "base files are not the newest"
            case Archive():
                what, count = "commit was archived", len(self.instants(folder)) - RETAINED
                why = "are too many"
            case _:
                return MISSING.get(type(operation), "")
        return f"no {what}, but {count} {why}" if count > 0 else ""

    def creation_problem(self, folder: Path, settings: VariantSettings) -> str:
        asked, made = settings.get("table_version"), self.table_version(folder)
        if not made:
            return "the writer said that all is well, and there is no table in the folder"
        if asked not in (None, made):
            return f"table version {asked} was asked for, the writer made version {made}"
        encoded = dict(hudi_settings.properties(settings)).get(URL_ENCODED)
        if encoded not in (None, records.local(folder).properties.get(URL_ENCODED)):
            return f"{URL_ENCODED}={encoded} was asked for, and the table does not have it"
        return ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        return data_files.file_rows(path, fact)

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        return data_files.statistics(folder, files)

    def queried_statistics(self, settings: VariantSettings) -> HudiStatistics | None:
        return HudiStatistics() if settings.get(METADATA_TABLE) in WITH_STATISTICS else None

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        return hudi_files.facts(folder, key)

    def _properties(self, table: Table, settings: VariantSettings) -> list[tuple[str, str]]:
        properties = [("type", "mor" if self.merge_on_read else "cow"), ("primaryKey", table.key)]
        if table.order_by:
            properties.append(("preCombineField", ",".join(table.order_by)))
        return [
            *properties,
            *hudi_settings.merge_properties(table),
            *hudi_settings.properties(settings),
        ]


MISSING: Final[Mapping[type[Operation], str]] = {
    **dict.fromkeys(
        (BeginWrite, FailedWrite, KilledWrite), "no write was begun that is not completed"
    ),
    Savepoint: "no new savepoint is on the timeline",
    Restore: "no new restore is completed",
    Rollback: "no new rollback is completed",
}
"""What is missing after these, whatever the table's files are."""


FORMATS = (
    # A changed row rewrites its base file.
    Hudi("hudi-cow", {"snapshot": TABLE}),
    # A changed row goes to a log file, until compaction.
    Hudi(
        "hudi-mor",
        {"snapshot": f"{TABLE}_rt", "read_optimized": f"{TABLE}_ro", "base_name": TABLE},
        merge_on_read=True,
    ),
)
