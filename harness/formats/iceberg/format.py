"""Iceberg, format version 2: every change writes new files and a new metadata file.

Columns have ids in metadata and files, so that every value is found: the control of all others.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.core.setting_values import DELETE_MODE, EQUALITY, FORMAT_VERSION, MOMENTS
from harness.engines.format_facts import FormatFacts, Timeline
from harness.engines.time_travel import SNAPSHOT
from harness.formats.api import NO_CATALOG, NO_COMMIT, Committed, FileRows, Format, VariantSettings
from harness.formats.files import data_files
from harness.formats.iceberg import files as iceberg_files
from harness.formats.iceberg import settings as iceberg_settings
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.files import LINEAGE_SINCE
from harness.formats.iceberg.settings import SETTINGS, VERSION, WITH_ZONE
from harness.formats.spark_statements import REPLACING, create_table, failed_rows, whole_rows
from harness.model.commit import AS_OF, BRANCH, TAG
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind, Lineage
from harness.model.identifiers import TABLE
from harness.model.schema import Table
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.new_rows import fresh, known
from harness.scenario.operations.replace_table import ReplaceTable
from harness.scenario.operations.row_writes import Delete, Insert, Touch, Upsert
from harness.scenario.operations.services import Compact, SetTableVersion
from harness.scenario.operations.snapshots import CreateTag
from harness.scenario.operations.unfinished_writes import KilledWrite
from harness.scenario.statements import (
    LOCATION,
    DeathPoint,
    IcebergCall,
    KilledSql,
    Scalar,
    Sql,
    Statement,
    of_table,
)

UNSUPPORTED_TYPES: Final = frozenset({"tinyint", "smallint", "char", "varchar"})
"""Spark makes integers and strings of them (Iceberg specification, "Primitive Types")."""

TIMESTAMPS: Final = "spark.sql.timestampType"
SESSION: Final = {
    # Both types of ours become Iceberg's `timestamp`, which has no zone (docs/scenarios.md);
    # Spark's own `timestamp`, which has one, would become `timestamptz`.
    TIMESTAMPS: "TIMESTAMP_NTZ",
    # One file for each write and partition: rows of one write share a file, as in a file group.
    "spark.sql.shuffle.partitions": "1",
}


PAST: Final = Timeline(
    SNAPSHOT,
    where=(
        "of the snapshots, oldest first:",
        f"in Spark: select snapshot_id from {{database}}.{TABLE}.snapshots order by committed_at",
    ),
)
"""Iceberg documentation, "Spark Queries", "Inspecting tables"."""


class Iceberg(Format):
    NAME = "iceberg"
    kind: TableKind = TableKind(Family.ICEBERG)
    reader_facts = FormatFacts("iceberg", "iceberg", keeps_case=True, past=PAST)
    """Names are kept in its metadata (Iceberg specification, "Schemas and Data Types")."""
    past_views = (AS_OF, TAG, BRANCH)
    settings = SETTINGS
    unsupported_types = UNSUPPORTED_TYPES
    absolute_paths = True

    def usual_settings(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        return iceberg_settings.usual(scenario)

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        plain = iceberg_settings.is_migrated(settings)
        why = iceberg_settings.unsupported_migration(scenario, settings) if plain else ""
        return why or iceberg_settings.unsupported(settings, scenario)

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        zoned = {TIMESTAMPS: "TIMESTAMP_LTZ"} if settings.get(MOMENTS) == WITH_ZONE else {}
        return {**SESSION, **zoned, **iceberg_settings.unlocked(settings)}

    def properties(self, settings: VariantSettings) -> Mapping[str, str]:
        return dict(iceberg_settings.properties(settings))

    def create(
        self, table: Table, settings: VariantSettings, how: str = ""
    ) -> tuple[Statement, ...]:
        # The location has a scheme: Trino refuses paths without one.
        if iceberg_settings.is_migrated(settings):
            return iceberg_settings.create_plain(table, settings)
        properties = iceberg_settings.properties(settings)
        return (create_table(table, "iceberg", f"file:{LOCATION}", properties, how),)

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        # Iceberg knows no keys: a merge says which rows are replaced.
        context = StepContext(self.kind, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        if iceberg_settings.begins(operation, after, settings):
            return iceberg_settings.filled(before, after, settings)
        by_value = settings.get(DELETE_MODE) == EQUALITY
        match operation:
            case Delete() if by_value:
                keys = (*known(before, operation.keys), *fresh(before, operation.absent))
                gone: dict[str, Scalar] = {"columns": (before.table.key,), "values": keys}
                return (IcebergCall("delete_by_value", gone),)
            case KilledWrite():
                return (KilledSql(failed_rows(before, after), DeathPoint.LOCK),)
            case ReplaceTable():
                return self.create(after.table, settings, REPLACING)
            case Insert() | Upsert() | Touch():
                return (Sql(whole_rows(before, after)),)
        return of_table(operation.sql(before, after))

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        return iceberg_table.table(folder, entries).snapshots

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        # Metadata that is newer and not named by the catalog is a commit that was begun.
        newest = iceberg_table.table(folder, entries)
        if not newest.metadata:
            return Committed()
        return Committed(
            newest.snapshots,
            newest.state,
            cleanings=newest.snapshots[:1],
            begun=(*newest.staged, *newest.others),
            tags=newest.tags,
        )

    def table_version(self, folder: Path) -> str:
        return str(iceberg_table.table(folder).metadata.get("format-version", ""))

    def lineage(self, folder: Path, key: str, catalog: CatalogHistory) -> Lineage | None:
        return iceberg_files.lineage(folder, key, catalog.now)

    def lineage_since(self, settings: VariantSettings, scenario: Scenario) -> int | None:
        if int(settings.get(FORMAT_VERSION, VERSION)) >= LINEAGE_SINCE:
            return 0
        steps = enumerate(scenario.operations, start=1)
        return next((at for at, done in steps if isinstance(done, SetTableVersion)), None)

    def timeline(self, folder: Path) -> tuple[str, ...]:
        return tuple(f"snapshot {instant}" for instant in self.instants(folder))

    def missing_effect(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        if isinstance(operation, CreateTag):
            return NO_COMMIT
        with_deletes = [fact.file_group for fact in before if fact.kind is FileKind.LOG]
        if not isinstance(operation, Compact) or not with_deletes:
            return ""
        return f"rows were deleted in {len(set(with_deletes))} data files, and none was rewritten"

    def creation_problem(self, folder: Path, settings: VariantSettings) -> str:
        made = iceberg_table.table(folder)
        if not made.metadata:
            plain = iceberg_settings.is_migrated(settings)
            return "" if plain else "the writer made no metadata file"
        asked = settings.get(FORMAT_VERSION, VERSION)
        if (version := self.table_version(folder)) != asked:
            return f"format version {asked} was asked for, the writer made version {version}"
        expected = iceberg_settings.properties(settings)[1:]
        wrong = [name for name, value in expected if made.properties.get(name) != value]
        return f"the table does not have what was asked for: {', '.join(wrong)}" if wrong else ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        columns, rows = data_files.file_rows(path, fact)
        folder = Path(str(path).removesuffix(fact.path))
        partition = iceberg_files.partition_values(folder, fact.path)
        if not partition:
            return columns, rows
        # Files that were those of a plain table do not have them.
        added = tuple(name for name in partition if name not in columns)
        taken = [
            [partition.get(name, value) for name, value in zip(columns, row, strict=True)]
            + [partition[name] for name in added]
            for row in rows
        ]
        return (*columns, *added), tuple(map(tuple, taken))

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        # Manifests may be written anew at any step.
        return (*iceberg_files.manifest_statistics(folder), *data_files.statistics(folder, files))

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        return iceberg_files.facts(folder, key, catalog.now)


FORMATS = (Iceberg(),)
