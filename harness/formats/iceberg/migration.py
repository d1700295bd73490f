"""Iceberg tables that were plain Hive tables, whose files have no field ids. Pure.

Source: Iceberg documentation, "Spark Procedures", "Table migration" (`migrate`, `snapshot`): the
files stay as they are, and the table gets a name mapping, by which readers find the ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from harness.artifacts import distributions
from harness.engines.format_facts import FormatFacts
from harness.engines.trino import connector_catalogs
from harness.formats import trinoql
from harness.formats.api import CREATED_BY, VariantSettings
from harness.formats.iceberg.settings import FILE_FORMAT, PARQUET, properties
from harness.formats.spark_statements import definition, one_task
from harness.model.identifiers import TABLE
from harness.model.table import Table
from harness.model.truth import Truth
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.spark_sql import text
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
LEGACY_FORMAT: Final = "spark.sql.parquet.writeLegacyFormat"
"""Under it Spark writes decimals of fixed length, and lists that have two levels (`SQLConf`)."""
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
    """Return the creation of the plain table."""
    count = len(table.columns) - len(table.partition_by)
    by = f" partitioned by ({definition(table.columns[count:])})" if table.partition_by else ""
    columns, files = definition(table.columns[:count]), settings.get(FILE_FORMAT, PARQUET)
    name, folder = _plain(settings)
    return (Sql(f"create table {name} ({columns}){by} stored as {files} location 'file:{folder}'"),)


def begins(operation: Operation, after: Truth, settings: VariantSettings) -> bool:
    """Return whether an operation is the one that fills the plain table, and ends it."""
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
    """Return the same where Trino migrates the plain table, which Spark fills as it made it.

    Source: Trino's manual, "Iceberg connector", "Migrate table". It takes no properties.
    """
    statements = _write(before, after, settings)
    write = (
        replace(statement, by_maker=True) for statement in statements if isinstance(statement, Sql)
    )
    catalog = trinoql.quoted(connector_catalogs.catalog(facts, {}))
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
