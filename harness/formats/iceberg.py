"""Iceberg, format version 2: every change writes new files and a new metadata file.

Columns have ids, in the metadata and in the data files, so whoever follows the specification finds
every value whatever became of names and places: the control of all other formats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.engines.format_facts import FormatFacts, TimeTravel, Wording
from harness.engines.time_travel import SNAPSHOT
from harness.formats import data_files, iceberg_files, iceberg_statistics, layout
from harness.formats.api import Changes, Committed, FileRows, Habit, VariantSettings
from harness.formats.statements import DATABASE, LOCATION, Sql, Statement, of_table, under
from harness.model.column_statistics import ColumnStatistics
from harness.model.commit import AS_OF, Moment
from harness.model.file_facts import FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.schema import Field
from harness.model.table import Table
from harness.model.truth import Row, Truth
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.definition import Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation, schedules
from harness.scenario.operations.archive import Archive
from harness.scenario.operations.begin_write import BeginWrite
from harness.scenario.operations.change_partition_column import ChangePartitionColumn
from harness.scenario.operations.clean import Clean
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.compact import Compact
from harness.scenario.operations.delete_partition import DeletePartition
from harness.scenario.operations.failed_write import FailedWrite
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.late_delete import LateDelete
from harness.scenario.operations.late_upsert import LateUpsert
from harness.scenario.operations.move_row import MoveRow
from harness.scenario.operations.rename_column import RenameColumn
from harness.scenario.operations.restore import Restore
from harness.scenario.operations.rollback import Rollback
from harness.scenario.operations.savepoint import Savepoint
from harness.scenario.operations.set_table_version import SetTableVersion
from harness.scenario.operations.spark_sql import (
    merge_into,
    quoted,
    select_rows,
    text,
    type_text,
)
from harness.scenario.operations.sync import Sync
from harness.scenario.operations.touch import Touch
from harness.scenario.operations.upsert import Upsert
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.operations.write_with_metadata import WriteWithMetadata

OF_HUDI: Final = (Cluster, Clean, Archive, WriteWithMetadata, ChangePartitionColumn)
LACKS: Final = frozenset({"tinyint", "smallint", "char", "varchar"})
"""Spark makes integers and strings of them (Iceberg specification, "Primitive Types")."""

SESSION: Final = {
    # Both types of ours become Iceberg's `timestamp`, which has no zone (docs/scenarios.md);
    # Spark's own `timestamp`, which has one, would become `timestamptz`.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    # One file for each write and partition: rows of one write share a file, as in a file group.
    "spark.sql.shuffle.partitions": "1",
}
COMPACT: Final = (
    f"call spark_catalog.system.rewrite_data_files(table => '{DATABASE}.{TABLE}', "
    "options => map('delete-file-threshold', '1', 'min-file-size-bytes', '0'))"
)
"""Rewrites the data files of which rows are deleted, and no others, however small they are."""
CASE: Final = "spark.sql.caseSensitive"
"""With `false`, its default, Spark takes a name in other letters' case for the same column's."""
VERSION: Final = "2"
MODES: Final = ("write.delete.mode", "write.update.mode", "write.merge.mode")
DELETE_MODE: Final = "delete_mode"
COPY_ON_WRITE: Final = "copy-on-write"
MERGE_ON_READ: Final = "merge-on-read"
COMPRESSION: Final = "compression"
CODEC: Final = "write.parquet.compression-codec"
ROW_GROUPS: Final = "row_groups"
SETTINGS: Final = {
    DELETE_MODE: (COPY_ON_WRITE, MERGE_ON_READ),
    COMPRESSION: ("zstd", "gzip"),
    ROW_GROUPS: ("usual", "small"),
}
"""How `delete`, `update` and `merge` change rows: by new data files, or by position delete files
that name the rows which are gone. Absent is copy-on-write, Iceberg's default. The compression of
data files, absent, is Iceberg's default too: Zstandard since 1.4. With small row groups each row of
a data file has one of its own, and a page."""
SMALL: Final = (
    ("write.parquet.row-group-size-bytes", "1"),
    ("write.parquet.row-group-check-min-record-count", "1"),
    ("write.parquet.row-group-check-max-record-count", "1"),
)

PAST: Final = TimeTravel(
    {
        ("spark", AS_OF): Wording("{table} version as of {instant}"),
        ("trino", AS_OF): Wording("{table} for version as of {instant}"),
        ("pyiceberg", AS_OF): Wording("snapshot_id={instant}"),  # an argument of `Table.scan`
        ("hive", AS_OF): "Hive has no words for it before version 4",
        # NOT_FOUND, `t@<snapshot>` of `HiveTableOperations`: the metastore is asked for all.
        ("presto", AS_OF): "it finds no table with a snapshot in its name (seen on 0.283)",
    },
    SNAPSHOT,
    where=(
        "of the snapshots, oldest first:",
        f"in Spark: select snapshot_id from {{database}}.{TABLE}.snapshots order by committed_at",
    ),
)
"""Iceberg documentation, "Spark Queries" and "Inspecting tables"; Trino documentation, "Iceberg
connector". What its library has for Hive 3 stands in no documentation: `iceberg.mr.snapshot.id`
(`IcebergInputFormat` of 1.4.3)."""
FACTS: Final = FormatFacts("iceberg", "iceberg", keeps_case=True, past=PAST)
"""Names are kept in its metadata (Iceberg specification, "Schemas and Data Types")."""


@dataclass(frozen=True, slots=True)
class Iceberg:
    """See `harness.formats.api.Format`."""

    NAME: str = "iceberg"
    reader_facts: FormatFacts = FACTS
    # In the sense of Hudi: it has no second view that sees the base files alone.
    merge_on_read: bool = False
    views: tuple[str, ...] = ("snapshot",)
    past_views: tuple[str, ...] = (AS_OF,)
    lacks: frozenset[str] = LACKS
    partitions_last: bool = False
    absolute_paths: bool = True

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """The settings a variant may name."""
        return SETTINGS

    def table_for(self, view: str) -> str:
        """Return the one catalog entry."""
        return {"snapshot": TABLE, AS_OF: TABLE}[view]

    def cannot(self, operation: Operation) -> str:
        """Refuse to plan for later; what Iceberg does not do it refuses itself, as an answer."""
        if isinstance(operation, SetTableVersion):
            return f"{self.NAME} tables are made in version {VERSION}, and stay there"
        if isinstance(operation, OF_HUDI):
            return f"{self.NAME} has no {name_of(operation)}, which is Hudi's alone"
        if isinstance(operation, Sync):
            return f"{self.NAME} has its columns from no metastore, so there is none to sync"
        if isinstance(operation, DeletePartition):
            return f"{self.NAME} has no partitions to drop; a delete says which rows go"
        if isinstance(operation, WriteFrame):
            return f"{self.NAME} tables are written by SQL alone, and a DataFrame's are Hudi's"
        if isinstance(operation, MoveRow):
            return f"{self.NAME} has no index that could find a row in one partition alone"
        if isinstance(operation, LateUpsert | LateDelete):
            return f"{self.NAME} orders no versions of a row: the last write stands, late or not"
        if schedules(operation):
            return f"{self.NAME} rewrites files at once: nothing can be scheduled"
        if isinstance(operation, Savepoint | Restore | Rollback | FailedWrite | BeginWrite):
            # What goes back is the current snapshot; the schema stays (apache/iceberg#5591).
            return f"{self.NAME} has no savepoints, and a write is not taken back with its columns"
        return ""

    def habit(self, settings: VariantSettings) -> Habit:
        """Return that partition columns stand in the path alone, and where changes go."""
        apart = settings.get(DELETE_MODE) == MERGE_ON_READ
        return Habit(Changes.APART if apart else Changes.REPLACE, partitions=False)

    def cannot_have(self, settings: VariantSettings, scenario: Scenario) -> str:
        """Return that no file has rows for two row groups, where they are to be small."""
        return layout.one_row_group(scenario) if settings.get(ROW_GROUPS) == "small" else ""

    def session(
        self,
        settings: VariantSettings,  # noqa: ARG002 - they are the table's
        names: Mapping[str, str],  # noqa: ARG002
    ) -> Mapping[str, str]:
        """Return the writer's settings."""
        return SESSION

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        """Return `create table`, with the catalog entry that Hive's reader needs.

        The location has a scheme: Trino refuses paths without one.
        """
        columns = ", ".join(f"{quoted(name)} {type_text(type_)}" for name, type_ in table.columns)
        by = ", ".join(map(quoted, table.partition_by))
        partitioned = f" partitioned by ({by})" if by else ""
        properties = ", ".join(f"{text(n)} = {text(v)}" for n, v in _properties(settings))
        return (
            Sql(
                f"create table {DATABASE}.{TABLE} ({columns}) using iceberg{partitioned} "
                f"location 'file:{LOCATION}' tblproperties ({properties})"
            ),
        )

    def wording(
        self,
        operation: Operation,
        before: Truth,
        after: Truth,
        settings: VariantSettings,  # noqa: ARG002
    ) -> tuple[Statement, ...]:
        """Return the common Spark SQL, but for whole rows.

        Iceberg knows no keys: a merge says which rows are replaced.
        """
        match operation:
            case Compact():
                return (Sql(COMPACT),)
            case Insert() | Upsert() | Touch():
                return (Sql(_whole_rows(before, after)),)
        said = of_table(operation.sql(before, after))
        if not (isinstance(operation, RenameColumn) and _only_case(operation)):
            return said
        return under(CASE, "true", "false", said)

    def instants(self, folder: Path) -> tuple[str, ...]:
        """Return the ids of the snapshots; schema changes make none."""
        found = iceberg_files.table(folder)
        return found.snapshots if found else ()

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        """Return snapshots and schema of the newest metadata, if it is what the catalog names.

        A commit is complete once the catalog names its metadata file (Iceberg specification,
        "Metastore Tables"); a file that it does not name is of a commit of which nobody knows.
        """
        found = iceberg_files.table(folder)
        if found is None:
            return Committed()
        iceberg_files.check_named(found, entries)
        return Committed(found.snapshots, str(found.metadata["current-schema-id"]))

    def left_half(
        self,
        folder: Path,  # noqa: ARG002
        key: str,  # noqa: ARG002
        made: Collection[str],  # noqa: ARG002
        rows: Collection[str],  # noqa: ARG002
    ) -> str:
        """Return nothing: a snapshot has all of a write."""
        return ""

    def before(self, folder: Path, instant: str) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: one step makes one snapshot."""
        return ()

    def moment(self, folder: Path, instant: str) -> Moment:
        """Return a snapshot, which needs no more than its id."""
        return {each: Moment(each) for each in self.instants(folder)}[instant]

    def table_version(self, folder: Path) -> str:
        """Return the format version."""
        found = iceberg_files.table(folder)
        return str(found.metadata["format-version"]) if found else ""

    def timeline(self, folder: Path) -> tuple[str, ...]:
        """Return its snapshots."""
        return tuple(f"snapshot {each}" for each in self.instants(folder))

    def schema_history(self, folder: Path) -> None:
        """Return nothing: its ids are never given again."""

    def kept_metadata(self, folder: Path, instant: str) -> None:  # noqa: ARG002
        """Return nothing: no step writes any."""
        return

    def left_undone(
        self,
        folder: Path,  # noqa: ARG002
        operation: Operation,
        before: Sequence[FileFact],
    ) -> str:
        """Return the data files that a compaction left although rows of them are deleted."""
        held = [fact.file_group for fact in before if fact.kind is FileKind.LOG]
        if not isinstance(operation, Compact) or not held:
            return ""
        return f"rows were deleted in {len(set(held))} data files, and none was rewritten"

    def created_wrong(self, folder: Path, settings: VariantSettings) -> str:
        """Compare format version and mode with what was asked for."""
        found = iceberg_files.table(folder)
        if found is None:
            return "the writer made no metadata file"
        if (version := self.table_version(folder)) != VERSION:
            return f"format version {VERSION} was asked for, the writer made version {version}"
        wrong = [n for n, v in _properties(settings)[1:] if found.properties.get(n) != v]
        return f"the table does not have what was asked for: {', '.join(wrong)}" if wrong else ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        """Read the rows that a fact is about, their partition values as manifests have them."""
        columns, rows = data_files.file_rows(path, fact)
        folder = Path(str(path).removesuffix(fact.path))
        told = iceberg_files.partition_values(folder, fact.path)
        if not told:
            return columns, rows
        taken = [
            [told.get(name, value) for name, value in zip(columns, row, strict=True)]
            for row in rows
        ]
        return columns, tuple(map(tuple, taken))

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        """Read the manifests, and the footers of data files."""
        found = iceberg_statistics.read(folder)
        return (*found, *data_files.statistics(folder, files))

    def asked_statistics(self, settings: VariantSettings) -> None:
        """Return nothing: all that there are can be read."""

    def facts(self, folder: Path, key: str) -> tuple[FileFact, ...]:
        """Read the live data files and position delete files."""
        return iceberg_files.facts(folder, key)


def _properties(settings: VariantSettings) -> list[tuple[str, str]]:
    """Return the table's properties, the format version first."""
    mode = settings.get(DELETE_MODE, COPY_ON_WRITE)
    found = [("format-version", VERSION), ("engine.hive.enabled", "true")]
    packed = [(CODEC, settings[COMPRESSION])] if COMPRESSION in settings else []
    small = SMALL if settings.get(ROW_GROUPS) == "small" else ()
    return [*found, *((name, mode) for name in MODES), *packed, *small]


def _only_case(renamed: RenameColumn) -> bool:
    return renamed.name.casefold() == renamed.to.casefold()


def _whole_rows(before: Truth, after: Truth) -> str:
    """Return an insert, or where some of the rows are there already, a merge by the key."""
    rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
    table, source = f"{DATABASE}.{TABLE}", _source(rows, after.schema.fields)
    if not any(row.key in before.rows for row in rows):
        return f"insert into {table} {source}"
    merge, _ = merge_into(table, source, after)
    return f"{merge} when matched then update set * when not matched then insert *"


def _source(rows: Sequence[Row], fields: Sequence[Field]) -> str:
    """Return a query for the rows, in one task: each task writes a file of its own."""
    return f"select /*+ coalesce(1) */ * from ({select_rows(rows, fields)})"


FORMAT = Iceberg()
