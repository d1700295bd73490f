"""Delta Lake: every change is a version of the table, in a log of JSON files beside its data.

Without column mapping Delta refuses to rename and drop columns (protocol, "Column Mapping").
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.core.setting_values import MAPPING, VECTORS, WIDENING, SettingValues
from harness.engines.format_facts import FormatFacts, Timeline
from harness.engines.time_travel import NEXT_VERSION, VERSION
from harness.formats.api import NO_CATALOG, Committed, FileRows, Format, VariantSettings
from harness.formats.delta import files as delta_files
from harness.formats.delta import log as delta_log
from harness.formats.delta.log import CHANGE_FEED, MODE
from harness.formats.files import data_files
from harness.formats.spark_statements import REPLACING, create_table, failed_rows, whole_rows
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.datatypes import NULL_ALONE
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind
from harness.model.identifiers import CHANGE_COLUMNS, TABLE
from harness.model.schema import Table
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.columns import ChangeType, DropColumn, RenameColumn
from harness.scenario.operations.replace_table import ReplaceTable
from harness.scenario.operations.row_writes import Insert, Touch, Upsert
from harness.scenario.operations.services import Checkpoint, Cluster, Compact
from harness.scenario.operations.snapshots import Restore
from harness.scenario.operations.spark_sql import text
from harness.scenario.operations.unfinished_writes import KilledWrite
from harness.scenario.statements import (
    DATABASE,
    LOCATION,
    DeathPoint,
    KilledSql,
    Sql,
    Statement,
    of_table,
)

UNSUPPORTED_TYPES: Final = frozenset({"char", "varchar", *NULL_ALONE})
"""Spark makes strings of them (protocol, "Primitive Types")."""

SESSION: Final = {
    # One file for each write and partition: rows of one write share a file, as in a file group.
    "spark.sql.shuffle.partitions": "1",
    # A vacuum is a version of the table then.
    "spark.databricks.delta.vacuum.logging.enabled": "true",
}
LATER: Final = "later"
ZONE_SETTING: Final = "session_zone"
FEED: Final = "change_data_feed"
SWITCHED: Final = {
    VECTORS: "delta.enableDeletionVectors",
    WIDENING: "delta.enableTypeWidening",
    FEED: CHANGE_FEED,
}
"""The property of each setting that is off or on."""
SETTINGS: Final = {
    MAPPING: SettingValues(
        ("none", "name", "id", LATER),
        "how columns are found in data files: by the table's own names (Delta's default, also if "
        "absent; a rename or a drop is refused then), by physical names or by ids; with `later` by "
        "physical names from the second step on, when files with the names of then are there",
    ),
    VECTORS: SettingValues(
        ("off", "on"),
        "whether deletes, updates and merges mark rows of data files as gone, or write new data "
        "files; if absent, off (Delta's default)",
    ),
    WIDENING: SettingValues(
        ("off", "on"),
        "whether a column may get a wider type while its files keep the narrow one; Delta 3.3 on "
        "Spark 3.5 widens `tinyint` and `smallint`, to `int` at most, and Delta 4.0 on Spark 4.0 "
        "also `int` to `long` and `double`, `float` to `double`, and a decimal to one of more "
        "digits; if absent, off",
    ),
    FEED: SettingValues(
        ("off", "on"),
        "whether each write also keeps what it changed, which the view `incremental` is asked of; "
        "if absent, off",
    ),
    ZONE_SETTING: SettingValues(
        ("stockholm",),
        "the time zone of the session that writes: Europe/Stockholm, whose offset has seconds "
        "before 1879 (`+00:53:28`); if absent, UTC",
    ),
}
IN_ZONE: Final = {
    "spark.sql.session.timeZone": "Europe/Stockholm",
    # Else Spark refuses to write moments from before 1900.
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
}
_MOMENT: Final = re.compile(r"'([-\d]+ [\d:.]+)'(?= as timestamp\))")
"""Of which the session's zone makes another moment, unless it is said to be in UTC."""
SWITCH: Final = (
    f"alter table {DATABASE}.{TABLE} set tblproperties ({text(MODE)} = 'name', "
    "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
)
"""Delta documentation, "Delta column mapping", "Enable column mapping"."""


PAST: Final = Timeline(
    VERSION,
    lambda library, table_version: NEXT_VERSION,  # noqa: ARG005 - the same in all
    CHANGE_COLUMNS,
    (
        "of the versions, oldest first:",
        f"in Spark: select version from (describe history {{database}}.{TABLE}) order by version",
    ),
)


class Delta(Format):
    NAME = "delta"
    kind: TableKind = TableKind(Family.DELTA)
    reader_facts = FormatFacts("delta", "delta", keeps_case=True, past=PAST)
    """Names are kept in its log (protocol, "Schema Serialization Format")."""
    past_views = (AS_OF, INCREMENTAL)
    settings = SETTINGS
    unsupported_types = UNSUPPORTED_TYPES
    column_options = True

    def usual_settings(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        renamed = any(isinstance(o, DropColumn | RenameColumn) for o in scenario.operations)
        usual: dict[str, tuple[str, ...]] = {MAPPING: ("name",) if renamed else ("none", "name")}
        if scenario.changes_rows:
            usual[VECTORS] = "off", "on"
        if any(isinstance(operation, ChangeType) for operation in scenario.operations):
            usual[WIDENING] = ("on",)
        return usual

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        if settings.get(MAPPING) == LATER and len(scenario.steps) == 1:
            return f"{MAPPING}={LATER}: there is no second step"
        return ""

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        return {**SESSION, **(IN_ZONE if ZONE_SETTING in settings else {})}

    def properties(self, settings: VariantSettings) -> Mapping[str, str]:
        """Return the properties of a new table; those of defaults are left out."""
        properties: dict[str, str] = {}
        if (mode := settings.get(MAPPING, LATER)) != LATER:
            properties[MODE] = mode
        for setting, named in SWITCHED.items():
            if setting in settings:
                properties[named] = "true" if settings[setting] == "on" else "false"
        return properties

    def create(
        self, table: Table, settings: VariantSettings, how: str = ""
    ) -> tuple[Statement, ...]:
        # The location has a scheme: Trino refuses paths without one.
        properties = dict(self.properties(settings))
        if any(option.default is not None for _, option in table.options):
            properties["delta.feature.allowColumnDefaults"] = "supported"
        return (create_table(table, "delta", f"file:{LOCATION}", properties.items(), how),)

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        statements = operation.statements(StepContext(self.kind, before, after, settings))
        if statements is None:
            match operation:
                case KilledWrite():
                    statements = (KilledSql(failed_rows(before, after), DeathPoint.COMMIT),)
                case ReplaceTable():
                    statements = self.create(after.table, settings, REPLACING)
                case Insert() | Upsert() | Touch():
                    statements = (Sql(whole_rows(before, after)),)
                case _:
                    statements = of_table(operation.sql(before, after))
        if ZONE_SETTING in settings:
            statements = tuple(
                replace(sent, text=_MOMENT.sub(r"'\1Z'", sent.text))
                if isinstance(sent, Sql)
                else sent
                for sent in statements
            )
        if settings.get(MAPPING) == LATER and before.step == 1:
            return (Sql(SWITCH, commits=False), *statements)
        return statements

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        # Versions that change neither rows nor columns are no writes.
        return _writes(delta_log.local(folder))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        # Data files that no version names are those of a write that was begun.
        log = delta_log.local(folder)
        if not log.commits:
            return Committed()
        return Committed(
            _writes(log),
            cleanings=log.versions_of("VACUUM END"),
            undone=log.versions_of("RESTORE"),
            begun=log.unnamed_files(),
            checkpoints=log.checkpoints,
        )

    def instants_before(self, folder: Path, instant: str) -> tuple[str, ...]:
        return tuple(name for name in self.instants(folder) if int(name) < int(instant))

    def table_version(self, folder: Path) -> str:
        return str(delta_log.local(folder).protocol.get("minReaderVersion", ""))

    def timeline(self, folder: Path) -> tuple[str, ...]:
        commits = delta_log.local(folder).commits
        return tuple(f"version {commit.version}: {commit.operation}" for commit in commits)

    def missing_effect(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        marked = {fact.file_group for fact in before if fact.kind is FileKind.LOG}
        if isinstance(operation, Compact) and marked:
            return f"rows were deleted in {len(marked)} data files, and none was rewritten"
        folders = [fact.path.rpartition("/")[0] for fact in before if fact.kind is FileKind.BASE]
        if isinstance(operation, Cluster) and len(folders) > len(set(folders)):
            return "a partition has several data files, and none was rewritten"
        if isinstance(operation, Restore):
            return "the table has no version that restored it"
        if isinstance(operation, Checkpoint):
            # Every tenth version has one by itself (`delta.checkpointInterval`).
            log = delta_log.local(folder)
            newest = str(log.commits[-1].version)
            return "" if newest in log.checkpoints else f"version {newest} has no checkpoint"
        return ""

    def creation_problem(self, folder: Path, settings: VariantSettings) -> str:
        log = delta_log.local(folder)
        if not log.commits:
            return "the writer made no log"
        wrong = [n for n, v in self.properties(settings).items() if log.properties.get(n) != v]
        return f"the table does not have what was asked for: {', '.join(wrong)}" if wrong else ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        return delta_files.file_rows(path, fact)

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        # Of footers only those of the data files that call columns as the table does.
        named = [file for file in files if not file.stored_names]
        of_moments = delta_files.statistics_of_moments(folder)
        return (*data_files.statistics(folder, named), *of_moments)

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        return delta_files.facts(folder, key)


def _writes(log: delta_log.DeltaLog) -> tuple[str, ...]:
    properties = frozenset(log.versions_of(delta_log.PROPERTIES_ALONE))
    versions = (str(commit.version) for commit in log.commits)
    return tuple(version for version in versions if version not in properties)


FORMATS = (Delta(),)
