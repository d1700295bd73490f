"""Iceberg, format version 2: every change writes new files and a new metadata file.

Columns have ids, in the metadata and in the data files, so whoever follows the specification finds
every value whatever became of names and places: the control of all other formats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.engines.format_facts import FormatFacts
from harness.formats.api import (
    NO_CATALOG,
    NO_COMMIT,
    Changes,
    Committed,
    FileRows,
    Habit,
    VariantSettings,
)
from harness.formats.files import data_files
from harness.formats.iceberg import files as iceberg_files
from harness.formats.iceberg import migration as iceberg_migration
from harness.formats.iceberg import settings as iceberg_settings
from harness.formats.iceberg import statistics as iceberg_statistics
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.past import PAST
from harness.formats.iceberg.settings import (
    DELETE_MODE,
    EQUALITY,
    FORMAT_VERSION,
    MERGE_ON_READ,
    SETTINGS,
    VERSION,
)
from harness.formats.keyless_rows import failed_rows, whole_rows
from harness.model.column_statistics import ColumnStatistics
from harness.model.commit import AS_OF, BRANCH, TAG, Moment
from harness.model.file_facts import FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.table import Table
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.compact import Compact
from harness.scenario.operations.create_tag import CreateTag
from harness.scenario.operations.delete import Delete
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.killed_write import KilledWrite
from harness.scenario.operations.new_rows import fresh, known
from harness.scenario.operations.spark_sql import (
    quoted,
    text,
    type_text,
)
from harness.scenario.operations.touch import Touch
from harness.scenario.operations.upsert import Upsert
from harness.scenario.statements import (
    DATABASE,
    LOCATION,
    IcebergCall,
    LockedSql,
    Scalar,
    Sql,
    Statement,
    of_table,
)

LACKS: Final = frozenset({"tinyint", "smallint", "char", "varchar"})
"""Spark makes integers and strings of them (Iceberg specification, "Primitive Types")."""

SESSION: Final = {
    # Both types of ours become Iceberg's `timestamp`, which has no zone (docs/scenarios.md);
    # Spark's own `timestamp`, which has one, would become `timestamptz`.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    # One file for each write and partition: rows of one write share a file, as in a file group.
    "spark.sql.shuffle.partitions": "1",
}
FACTS: Final = FormatFacts("iceberg", "iceberg", keeps_case=True, past=PAST)
"""Names are kept in its metadata (Iceberg specification, "Schemas and Data Types")."""


KIND: Final = TableKind(Family.ICEBERG)


@dataclass(frozen=True, slots=True)
class Iceberg:
    """See `harness.formats.api.Format`."""

    NAME: str = "iceberg"
    reader_facts: FormatFacts = FACTS
    # In the sense of Hudi: it has no second view that sees the base files alone.
    merge_on_read: bool = False
    views: tuple[str, ...] = ("snapshot",)
    past_views: tuple[str, ...] = (AS_OF, TAG, BRANCH)
    lacks: frozenset[str] = LACKS
    partitions_last: bool = False
    absolute_paths: bool = True

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """The settings a variant may name."""
        return SETTINGS

    def table_for(self, view: str) -> str:
        """Return the one catalog entry."""
        return dict.fromkeys(("snapshot", *self.past_views), TABLE)[view]

    def cannot(self, operation: Operation) -> str:
        """Refuse to plan for later; what Iceberg does not do it refuses itself, as an answer."""
        why = operation.unsupported(KIND)
        return f"{self.NAME} {why}" if why else ""

    def habit(self, settings: VariantSettings) -> Habit:
        """Return that partition columns stand in the path alone, and where changes go."""
        apart = settings.get(DELETE_MODE) in {MERGE_ON_READ, EQUALITY}
        return Habit(Changes.APART if apart else Changes.REPLACE, partitions=False)

    def cannot_have(self, settings: VariantSettings, scenario: Scenario) -> str:
        """Return what the settings need and the scenario's table does not have."""
        plain = iceberg_migration.is_migrated(settings)
        why = iceberg_migration.cannot_have(scenario, settings) if plain else ""
        return why or iceberg_settings.cannot_have(settings, scenario)

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
        if iceberg_migration.is_migrated(settings):
            return iceberg_migration.create(table, settings)
        columns = ", ".join(f"{quoted(name)} {type_text(type_)}" for name, type_ in table.columns)
        by = ", ".join(map(quoted, table.partition_by))
        partitioned = f" partitioned by ({by})" if by else ""
        properties = ", ".join(
            f"{text(n)} = {text(v)}" for n, v in iceberg_settings.properties(settings)
        )
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
        settings: VariantSettings,
    ) -> tuple[Statement, ...]:
        """Return the common Spark SQL, but for whole rows.

        Iceberg knows no keys: a merge says which rows are replaced.
        """
        context = StepContext(KIND, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        if iceberg_migration.begins(operation, after, settings):
            return iceberg_migration.filled(before, after, settings)
        by_value = settings.get(DELETE_MODE) == EQUALITY
        match operation:
            case Delete() if by_value:
                keys = _keys(operation, before)
                gone: dict[str, Scalar] = {"column": before.table.key, "values": keys}
                return (IcebergCall("delete_by_value", gone),)
            case KilledWrite():
                return (LockedSql(failed_rows(before, after)),)
            case Insert() | Upsert() | Touch():
                return (Sql(whole_rows(before, after)),)
        return of_table(operation.sql(before, after))

    def instants(
        self,
        folder: Path,
        entries: Sequence[CatalogEntry] = (),
    ) -> tuple[str, ...]:
        """Return the ids of the snapshots; schema changes make none."""
        found = iceberg_table.table(folder, entries)
        return found.snapshots if found else ()

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        """Return snapshots and schema of the metadata that the catalog names.

        What is newer and not named is a commit that was begun.
        """
        found = iceberg_table.table(folder, entries)
        if found is None:
            return Committed()
        return Committed(
            found.snapshots,
            found.told,
            cleanings=found.snapshots[:1],
            begun=(*found.staged, *found.others),
            tags=found.tags,
        )

    def left_half(
        self,
        files: Sequence[FileFact],  # noqa: ARG002
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
        found = iceberg_table.table(folder)
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
        """Return the data files that a compaction left although rows of them are deleted.

        Or that there is no tag which was to be made.
        """
        if isinstance(operation, CreateTag):
            return NO_COMMIT
        held = [fact.file_group for fact in before if fact.kind is FileKind.LOG]
        if not isinstance(operation, Compact) or not held:
            return ""
        return f"rows were deleted in {len(set(held))} data files, and none was rewritten"

    def created_wrong(self, folder: Path, settings: VariantSettings) -> str:
        """Compare format version and mode with what was asked for."""
        found = iceberg_table.table(folder)
        if found is None:
            plain = iceberg_migration.is_migrated(settings)
            return "" if plain else "the writer made no metadata file"
        asked = settings.get(FORMAT_VERSION, VERSION)
        if (version := self.table_version(folder)) != asked:
            return f"format version {asked} was asked for, the writer made version {version}"
        wanted = iceberg_settings.properties(settings)[1:]
        wrong = [name for name, value in wanted if found.properties.get(name) != value]
        return f"the table does not have what was asked for: {', '.join(wrong)}" if wrong else ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        """Read the rows that a fact is about, their partition values as manifests have them."""
        columns, rows = data_files.file_rows(path, fact)
        folder = Path(str(path).removesuffix(fact.path))
        told = iceberg_files.partition_values(folder, fact.path)
        if not told:
            return columns, rows
        apart = tuple(each for each in told if each not in columns)  # as files of a plain table
        taken = [
            [told.get(name, value) for name, value in zip(columns, row, strict=True)]
            + [told[each] for each in apart]
            for row in rows
        ]
        return (*columns, *apart), tuple(map(tuple, taken))

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        """Read the manifests, which may be written anew at any step, and the footers."""
        return (*iceberg_statistics.read(folder), *data_files.statistics(folder, files))

    def asked_statistics(self, settings: VariantSettings) -> None:
        """Return nothing: all that there are can be read."""

    def facts(
        self,
        folder: Path,
        key: str,
        catalog: CatalogHistory = NO_CATALOG,
    ) -> tuple[FileFact, ...]:
        """Read the live data files and position delete files."""
        return iceberg_files.facts(folder, key, catalog.now)


def _keys(delete: Delete, before: Truth) -> tuple[str | int, ...]:
    """Return the keys that a delete names, those that no row has as well."""
    return (*known(before, delete.keys), *fresh(before, delete.absent))


FORMATS = (Iceberg(),)
