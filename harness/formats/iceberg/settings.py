"""The settings of Iceberg's tables: what they are called there, and which tables can have them.

Source: Iceberg documentation, "Configuration" ("Write properties"). Pure.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from harness.artifacts import distributions
from harness.core.setting_values import (
    DELETE_MODE,
    EQUALITY,
    FORMAT_VERSION,
    MERGE_ON_READ,
    MOMENTS,
    NANOSECONDS,
    SettingValues,
)
from harness.engines.format_facts import FormatFacts
from harness.engines.trino import engine
from harness.formats import layout, trinoql
from harness.formats.api import CREATED_BY, VariantSettings
from harness.formats.spark_statements import definition, one_task
from harness.model.datatypes import NULL_ALONE, Primitive, every_type
from harness.model.identifiers import TABLE
from harness.model.schema import Table
from harness.model.truth import Truth
from harness.scenario.definition import IN_BRANCH, STAGED_BY, Scenario
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, AddPartitionField, ReplacePartitionField
from harness.scenario.operations.row_writes import LEGACY_FORMAT, Delete, DeleteByValue, Insert
from harness.scenario.operations.spark_sql import text
from harness.scenario.operations.unfinished_writes import BeginWrite, WriteToBranch
from harness.scenario.statements import DATABASE, LOCATION, Sql, Statement, under

MIGRATE: Final = "migrate"
SNAPSHOT: Final = "snapshot"
TRINO: Final = "trino"
"""The engine that has a procedure of this name too, and no other of these."""
PLAIN: Final = "plain"
"""The plain table that `snapshot` makes another one of, and its folder in that of the table."""
LEGACY: Final = "migrate_legacy"
"""`migrate`, of Parquet files in an old layout."""
DYNAMIC: Final = "hive.exec.dynamic.partition.mode", "nonstrict", "strict"
"""Each row may say which partition it goes to, and what is put back (Hive documentation,
"Configuration Properties", `hive.exec.dynamic.partition.mode`)."""
_BY: Final = (MIGRATE, SNAPSHOT, LEGACY)
_CATALOG: Final = "call spark_catalog.system."


def is_migrated(settings: VariantSettings) -> bool:
    return settings.get(CREATED_BY) in _BY


def unsupported_migration(scenario: Scenario, settings: VariantSettings) -> str:
    """Return what the scenario lacks for a plain table; empty where it lacks nothing."""
    first = scenario.steps[0]
    other = distributions.load(first.by).engine if first.by else ""
    if other and (other != TRINO or settings[CREATED_BY] != MIGRATE):
        return f"{CREATED_BY}: of other writers {TRINO} alone is told of {MIGRATE}, and of no more"
    if type(first.operation) is not Insert:
        return f"{CREATED_BY}: the first step does not insert the rows of the plain table"
    names, by = tuple(dict(scenario.table.columns)), scenario.table.partition_by
    if by != names[len(names) - len(by) :]:
        return f"{CREATED_BY}: plain tables have their partition columns behind all others"
    return ""


def create_plain(table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
    count = len(table.columns) - len(table.partition_by)
    by = f" partitioned by ({definition(table.columns[count:])})" if table.partition_by else ""
    columns, files = definition(table.columns[:count]), settings.get(FILE_FORMAT, PARQUET)
    name, folder = _plain(settings)
    return (Sql(f"create table {name} ({columns}){by} stored as {files} location 'file:{folder}'"),)


def begins(operation: Operation, after: Truth, settings: VariantSettings) -> bool:
    return is_migrated(settings) and after.step == 1 and type(operation) is Insert


def filled(before: Truth, after: Truth, settings: VariantSettings) -> tuple[Statement, ...]:
    """Return the write of the rows into the plain table, and the procedure."""
    name, write = _plain(settings)[0], _write(before, after, settings)
    pairs = ", ".join(text(name) for pair in properties(settings) for name in pair)
    listed = f"properties => map({pairs})"
    target = f"'{DATABASE}.{TABLE}'"
    if settings[CREATED_BY] != SNAPSHOT:
        arguments = f"table => {target}, {listed}, drop_backup => true"
        return *write, Sql(f"{_CATALOG}migrate({arguments})")
    source = f"source_table => '{name}', table => {target}, location => 'file:{LOCATION}'"
    gone = Sql(f"drop table {name}", in_any_case=True, commits=False)  # its files stay
    return *write, Sql(f"{_CATALOG}snapshot({source}, {listed})"), gone


def filled_by_trino(
    before: Truth, after: Truth, settings: VariantSettings, facts: FormatFacts
) -> tuple[Statement, ...]:
    """Return the same with Trino's `migrate`, which takes no properties ("Iceberg connector")."""
    statements = _write(before, after, settings)
    write = (
        replace(statement, by_maker=True) for statement in statements if isinstance(statement, Sql)
    )
    catalog = trinoql.quoted(engine.catalog_name(facts, {}))
    arguments = f"schema_name => '{DATABASE}', table_name => '{TABLE}'"
    return *write, Sql(f"call {catalog}.system.migrate({arguments})")


def _write(before: Truth, after: Truth, settings: VariantSettings) -> tuple[Statement, ...]:
    rows = [row for key, row in after.rows.items() if key not in before.rows]
    name, _ = _plain(settings)
    insert = Sql(f"insert into {name} {one_task(rows, after.schema.fields)}", commits=False)
    old = settings[CREATED_BY] == LEGACY
    write = under(LEGACY_FORMAT, "true", "false", (insert,)) if old else (insert,)
    return under(*DYNAMIC, write) if after.table.partition_by else write


def _plain(settings: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and the place of the plain table: those of the table if it is migrated."""
    if settings[CREATED_BY] != SNAPSHOT:
        return f"{DATABASE}.{TABLE}", LOCATION
    return f"{DATABASE}.{PLAIN}", f"{LOCATION}/{PLAIN}"


VERSION: Final = "2"
NEWEST: Final = "3"
MODES: Final = ("write.delete.mode", "write.update.mode", "write.merge.mode")
COPY_ON_WRITE: Final = "copy-on-write"
FILE_FORMAT: Final = "file_format"
PARQUET: Final = "parquet"
FILE_FORMATS: Final = ("write.format.default", "write.delete.format.default")
COMPRESSION: Final = "compression"
CODEC: Final = "write.parquet.compression-codec"
ROW_GROUPS: Final = "row_groups"
WITH_ZONE: Final = "timestamptz"
COMMIT_LOCK: Final = "commit_lock"
_UNLOCKED: Final = {
    "spark.sql.catalog.spark_catalog.hadoop.iceberg.engine.hive.lock-enabled": "false"
}
"""Iceberg documentation, "Configuration", "Hadoop configuration"."""
ONLY_UNPARTITIONED: Final = "deletes by value are written for tables without partitions"
SETTINGS: Final = {
    DELETE_MODE: SettingValues(
        (COPY_ON_WRITE, MERGE_ON_READ, EQUALITY),
        "with `merge-on-read`, deletes, updates and merges write position delete files beside the "
        "data files, from version 3 on deletion vectors; with `equality`, a `delete` writes the "
        "keys instead ([above](#tables-of-iceberg)); with `copy-on-write` (Iceberg's default, also "
        "if absent), they write new data files",
    ),
    FORMAT_VERSION: SettingValues(
        (VERSION, NEWEST), f"the version of the format; if absent, {VERSION}"
    ),
    FILE_FORMAT: SettingValues((PARQUET, "orc", "avro"), "of data files; if absent, parquet"),
    COMPRESSION: SettingValues(
        ("zstd", "gzip"), "of data files; if absent, zstd, Iceberg's default since 1.4"
    ),
    ROW_GROUPS: SettingValues(
        ("usual", "small"), "`small`: each row of a data file gets a row group of its own"
    ),
    MOMENTS: SettingValues(
        ("timestamp", WITH_ZONE, NANOSECONDS),
        "Iceberg's type for columns that are `timestamp` here: the one without a zone, or the one "
        "with it; of those that are added later also the one that counts nanoseconds, which Spark "
        "has no words for; if absent, timestamp",
    ),
    STAGED_BY: SettingValues(
        ("id", IN_BRANCH),
        "what a write has that is begun and committed later ([above](#tables-of-iceberg)); if "
        "absent, id",
    ),
    COMMIT_LOCK: SettingValues(
        ("on", "off"),
        "`off`: Spark commits without the table's lock in the metastore, so that it can while "
        "Trino waits for that before its own commit; if absent, on",
    ),
    CREATED_BY: SettingValues(
        ("sql", MIGRATE, SNAPSHOT, LEGACY),
        "all but `sql` make a table of a plain one with the rows of the first step "
        "([above](#tables-of-iceberg)); the Parquet files of `migrate_legacy` have an old layout "
        "(`spark.sql.parquet.writeLegacyFormat`: decimals of fixed length, lists of two levels). "
        "If absent, sql",
    ),
}
SMALL: Final = (
    ("write.parquet.row-group-size-bytes", "1"),
    ("write.parquet.row-group-check-min-record-count", "1"),
    ("write.parquet.row-group-check-max-record-count", "1"),
)


def unsupported(settings: VariantSettings, scenario: Scenario) -> str:
    """Return why there are no rows for two row groups, or no deletes by keys; empty where are."""
    if settings.get(FORMAT_VERSION, VERSION) != NEWEST and (
        _has_new_types(scenario) or settings.get(MOMENTS) == NANOSECONDS
    ):
        return f"{FORMAT_VERSION}: a table with such a type has version {NEWEST}"
    if settings.get(ROW_GROUPS) == "small":
        if settings.get(FILE_FORMAT, PARQUET) != PARQUET:
            return f"row_groups=small is a setting of Parquet, and file_format is not {PARQUET}"
        if why := layout.one_row_group(scenario):
            return why
    if COMPRESSION in settings and settings.get(FILE_FORMAT, PARQUET) != PARQUET:
        return f"compression is a setting of Parquet, and file_format is not {PARQUET}"
    if STAGED_BY in settings and not any(
        isinstance(step.operation, BeginWrite) for step in scenario.steps
    ):
        return f"{STAGED_BY}: no step begins a write that another one commits"
    if settings.get(STAGED_BY) != IN_BRANCH and _has(scenario, WriteToBranch):
        return f"{STAGED_BY}: a write to a branch is for a write that is staged in one"
    waits = any(step.by and isinstance(step.operation, BeginWrite) for step in scenario.steps)
    if waits != (settings.get(COMMIT_LOCK) == "off"):
        return f"{COMMIT_LOCK}: `off` is for the steps between another writer's begin and commit"
    if _has(scenario, DeleteByValue) and _is_partitioned(scenario):
        return f"delete_by_value: {ONLY_UNPARTITIONED}"
    return _no_equality(scenario) if settings.get(DELETE_MODE) == EQUALITY else ""


def _has_new_types(scenario: Scenario) -> bool:
    """Return whether a column is of a type that came with version 3 (specification, "Types")."""
    added = (type_ for o in scenario.operations for type_ in o.typed().values())
    whole = (*dict(scenario.table.columns).values(), *added)
    every = {part for type_ in whole for part in every_type(type_)}
    return not every.isdisjoint(map(Primitive, ("variant", *NULL_ALONE)))


def usual(scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
    """Return both versions, of which the newer alone has defaults, and both ways of deletes."""
    operations = scenario.operations
    defaults = any(isinstance(o, AddColumn) and o.default is not None for o in operations)
    newest = defaults or _has_new_types(scenario)
    settings: dict[str, tuple[str, ...]] = {
        FORMAT_VERSION: (NEWEST,) if newest else (VERSION, NEWEST)
    }
    if scenario.changes_rows:
        settings[DELETE_MODE] = COPY_ON_WRITE, MERGE_ON_READ
    return settings


def unlocked(settings: VariantSettings) -> Mapping[str, str]:
    return _UNLOCKED if settings.get(COMMIT_LOCK) == "off" else {}


def properties(settings: VariantSettings) -> list[tuple[str, str]]:
    """Return the table's properties, the format version first."""
    mode = settings.get(DELETE_MODE, COPY_ON_WRITE).replace(EQUALITY, MERGE_ON_READ)
    version = settings.get(FORMAT_VERSION, VERSION)
    first = [("format-version", version), ("engine.hive.enabled", "true")]
    kinds = [(name, settings[FILE_FORMAT]) for name in FILE_FORMATS if FILE_FORMAT in settings]
    packed = [(CODEC, settings[COMPRESSION])] if COMPRESSION in settings else []
    small = SMALL if settings.get(ROW_GROUPS) == "small" else ()
    return [*first, *((name, mode) for name in MODES), *packed, *small, *kinds]


def _no_equality(scenario: Scenario) -> str:
    """Return why no key is deleted by its value; empty where one is."""
    table = scenario.table
    if not _has(scenario, Delete):
        return "delete_mode=equality: no step deletes rows"
    if _is_partitioned(scenario):
        return f"delete_mode=equality: {ONLY_UNPARTITIONED}"
    if str(dict(table.columns)[table.key]) == "long":
        return "delete_mode=equality: deletes by value are written for keys of string and int"
    return ""


def _has(scenario: Scenario, *kinds: type[Operation]) -> bool:
    return any(isinstance(step.operation, kinds) for step in scenario.steps)


def _is_partitioned(scenario: Scenario) -> bool:
    partitioning = AddPartitionField, ReplacePartitionField
    return bool(scenario.table.partition_by) or _has(scenario, *partitioning)
