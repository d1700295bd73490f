"""Plain Hive tables, whatever their files are: rows are only added, the metastore has the schema.

Spark refuses to rename, drop or move columns; Hive's `replace columns` only writes others into the
metastore. That has one type of timestamps and refuses `timestamp_ntz` (SPARK-36180); which of its
own Spark takes it for is a setting, by which it writes all timestamps of a table.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.core.setting_values import SettingValues
from harness.engines.format_facts import FormatFacts
from harness.formats import layout
from harness.formats.api import (
    NO_CATALOG,
    Committed,
    FileFactError,
    FileRows,
    Format,
    VariantSettings,
)
from harness.formats.files import data_files, hive_text, parquet
from harness.formats.spark_statements import definition
from harness.model.datatypes import NULL_ALONE, DataType, Primitive, TypeNames, map_plain
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.schema import Table
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory, unlisted_folders
from harness.scenario.definition import CASCADE, Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.row_writes import Rewrites, Touch, WriteParquet
from harness.scenario.statements import (
    DATABASE,
    LOCATION,
    SetColumns,
    Sql,
    Statement,
    of_table,
    under,
)

SCHEMA_CHANGES: Final = frozenset(
    {"add_column", "change_type", "drop_column", "move_column", "rename_column"}
)
INTO: Final = "insert into {table} "
"""How the statement of every write begins."""
CASCADES: Final = SettingValues(
    ("on", "off"),
    "whether a schema change is also told to the partitions that there are, each of which has a "
    "list of columns of its own in the metastore. With `off` they keep theirs, as after `alter "
    "table … restrict`, Hive's default; a partition that is made later gets the columns that the "
    "table has then. If absent, on. The truth is the same for both",
)
ROW_GROUPS: Final = "row_groups"
REBASE: Final = "rebase"
SETTINGS: Final = {
    CASCADE: CASCADES,
    ROW_GROUPS: SettingValues(
        ("usual", "small"), "`small`: each row of a data file gets a row group of its own"
    ),
    REBASE: SettingValues(
        ("exception", "corrected", "legacy"),
        "what Spark writes for days before 1582 and moments before 1900 into Parquet files "
        "(`datetimeRebaseModeInWrite`, `int96RebaseModeInWrite`): nothing, the Gregorian calendar, "
        "or the Julian one of Spark 2 and old Hive. If absent, Spark's default, which is nothing "
        "before Spark 4",
    ),
}
REBASES: Final = (
    "spark.sql.parquet.datetimeRebaseModeInWrite",
    "spark.sql.parquet.int96RebaseModeInWrite",
)
NO_TYPES: Final = frozenset({"variant", *NULL_ALONE})
"""Hive language manual, "Hive Data Types"."""
SESSION: Final = {"hive.exec.dynamic.partition.mode": "nonstrict"}
ZONELESS: Final = Primitive("timestamp_ntz")
TIMESTAMP: Final = Primitive("timestamp")
TIMESTAMPS: Final = "spark.sql.timestampType"
WITHOUT_ZONE: Final = "TIMESTAMP_NTZ"
"""Spark then writes the metastore's timestamps with `isAdjustedToUTC=false` into Parquet files; a
table cannot be created so (seen with Spark 3.5.8)."""
WITH_ZONE: Final = "TIMESTAMP_LTZ"
"""Spark's default."""

_DATA: Final = re.compile(r"part-\d+-(?P<job>[0-9a-f-]{36})[.-].*")
"""Spark names data files by the partition of its job, and a random name of the job itself."""
_BESIDE: Final = re.compile(r"[._].*")


@dataclass(frozen=True, slots=True)
class HiveFiles(Format):
    NAME: str
    stored_as: str
    """What its files are in the words of `create table`."""
    session_settings: tuple[tuple[str, str], ...] = ()
    """Settings that its files need in the writing session."""
    small: tuple[tuple[str, str], ...] = ()
    """What a writer is told to make a row group of each row."""
    no_small: str = ""
    """Why it cannot; empty when it can."""

    @property
    def _nameless(self) -> bool:
        """Whether files have the columns that the catalog had when they were written."""
        return self.stored_as == "textfile"

    kind = TableKind(Family.HIVE)
    settings = SETTINGS
    unsupported_types = NO_TYPES
    partitions_last = True

    @property
    def reader_facts(self) -> FormatFacts:
        return FormatFacts(self.NAME, "hive", self.stored_as)

    def unsupported(self, operation: Operation) -> str:
        if why := Format.unsupported(self, operation):
            return why
        if isinstance(operation, WriteParquet) and self.stored_as != "parquet":
            return f"write_parquet: its files are of {self.stored_as}"
        rewrites = operation.rewrites if isinstance(operation, Touch) else None
        if rewrites not in {None, Rewrites.NONE}:
            return f"touch with rewrites {rewrites}: a plain Hive table has no file groups"
        return ""

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        small = settings.get(ROW_GROUPS) == "small"
        why = (self.no_small or layout.one_row_group(scenario)) if small else ""
        if REBASE in settings and self.stored_as != "parquet":
            why = f"{REBASE} is a setting of Parquet"
        return why or (follows_anyway(scenario) if settings.get(CASCADE) == "off" else "")

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        small = self.small if settings.get(ROW_GROUPS) == "small" else ()
        rebased = dict.fromkeys(REBASES, settings[REBASE].upper()) if REBASE in settings else {}
        return SESSION | dict(self.session_settings) | dict(small) | rebased

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        # Partition columns stand apart from the others, and last.
        columns = [(n, t) for n, t in table.columns if n not in table.partition_by]
        types = dict(table.columns)
        parts = [(name, types[name]) for name in table.partition_by]
        partitioned = f" partitioned by ({_definition(parts)})" if parts else ""
        return (
            Sql(
                f"create table {DATABASE}.{TABLE} ({_definition(columns)}){partitioned} "
                f"stored as {self.stored_as} location '{LOCATION}'"
            ),
        )

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        context = StepContext(self.kind, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        if name_of(operation) not in SCHEMA_CHANGES:
            common = operation.sql(before, after)
            small = settings.get(ROW_GROUPS) == "small"
            writes = of_table(map(_in_one_task, common) if small else common)
            zoneless = any(field.type == ZONELESS for field in after.schema.walk())
            return under(TIMESTAMPS, WITHOUT_ZONE, WITH_ZONE, writes) if zoneless else writes
        by = after.table.partition_by
        columns = tuple(
            (f.name, hive_type(f.type)) for f in after.schema.fields if f.name not in by
        )
        # The writing session keeps what it knows of a table until it is told.
        cascade = bool(by) and settings.get(CASCADE) != "off"
        return SetColumns(columns, cascade=cascade), Sql(
            f"refresh table {DATABASE}.{TABLE}", commits=False
        )

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        # The names of the jobs that wrote files, by the files' times of modification.
        paths = sorted(_data_files(folder), key=lambda path: path.stat().st_mtime_ns)
        return tuple(dict.fromkeys(_job(path) for path in paths))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        paths = [path.relative_to(folder).as_posix() for path in _data_files(folder)]
        if unlisted := unlisted_folders(entries, paths):
            raise FileFactError(f"the catalog does not list the files in {', '.join(unlisted)}")
        columns = [entry.columns for entry in entries if entry.name == TABLE]
        return Committed(self.instants(folder), json.dumps(columns))

    def partial_write(
        self, files: Sequence[FileFact], made: Collection[str], rows: Collection[str]
    ) -> str:
        # A write has no commit but its files.
        facts = (fact for fact in files if fact.instant in made)
        there = sorted(key for fact in facts for key in fact.keys)
        if not made or there == sorted(rows):
            return ""
        return f"of the rows {', '.join(sorted(rows))} its files hold {', '.join(there) or 'none'}"

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        if self._nameless:
            return hive_text.content(path, fact.columns)
        columns, rows = data_files.file_rows(path, fact)
        if self.stored_as == "parquet":
            rows = parquet.written_times(path, rows)
        by = _named_by_folders(fact.path)
        there = [at for at, name in enumerate(columns) if name not in by]
        if len(there) == len(columns):
            return columns, rows
        return tuple(columns[at] for at in there), tuple(
            tuple(row[at] for at in there) for row in rows
        )

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        return () if self._nameless else data_files.statistics(folder, files)

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        return tuple(self._fact(path, folder, key, catalog) for path in sorted(_data_files(folder)))

    def _fact(self, path: Path, folder: Path, key: str, catalog: CatalogHistory) -> FileFact:
        relative, job = path.relative_to(folder).as_posix(), _job(path)
        if self._nameless:
            # Partition columns stand in the path.
            columns = [
                (column["name"], column["type"])
                for entry in catalog.at_instant(job)
                if entry.name == TABLE
                for column in entry.table["sd"]["cols"]
            ]
            footer = hive_text.read(path, key, columns)
        else:
            footer = data_files.read_footer(path, key)
        # A file that has a partition column too has no say in it (Hive language manual,
        # "Partitioned Tables"), and what reads facts counts on its having none.
        by = _named_by_folders(relative)
        there = tuple(column for column in footer.columns if column[0] not in by)
        base = relative, FileKind.BASE, relative, job, there, footer.keys
        return FileFact(*base, nameless=self._nameless)


hive_type: Final = TypeNames(
    {"long": "bigint", str(ZONELESS): "timestamp"}, child="{}:{}", between=","
).text
"""Returns a type in Hive's words, as the metastore holds it: it has one for timestamps."""


def _in_one_task(insert: str) -> str:
    """Return an insert whose rows one task writes: else each row is in a file of its own."""
    into, rows = insert[: len(INTO)], insert[len(INTO) :]
    if into != INTO:
        raise ValueError(f"not an insert: {insert}")
    return f"{INTO}select /*+ coalesce(1) */ * from ({rows})"


def follows_anyway(scenario: Scenario) -> str:
    """Return why no partition could stay as it is when columns change; empty where one could."""
    if not scenario.table.partition_by:
        return "cascade=off: the table has no partitions"
    if not any(name_of(step.operation) in SCHEMA_CHANGES for step in scenario.steps):
        return "cascade=off: no step changes the columns"
    return ""


def _definition(columns: list[tuple[str, DataType]]) -> str:
    """Return the column list of `create table`: the metastore has one type for timestamps."""
    return definition(
        (name, map_plain(type_, lambda plain: TIMESTAMP if plain == ZONELESS else plain))
        for name, type_ in columns
    )


def _data_files(folder: Path) -> list[Path]:
    """Return the data files in a folder and below it, without what lies beside them."""
    if not folder.is_dir():
        return []
    every = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in every if not (_BESIDE.fullmatch(path.name) or staged(path, folder))]


def staged(path: Path, table: Path) -> bool:
    """Return whether it lies in a hidden folder, into which Hive writes first."""
    return any(part[0] == "." for part in path.relative_to(table).parts)


def _named_by_folders(path: str) -> frozenset[str]:
    """Return the columns whose values the folders of a file's path tell."""
    return frozenset(part.partition("=")[0] for part in path.split("/")[:-1])


def _job(path: Path) -> str:
    """Return the name of the job that wrote a file; raises FileFactError."""
    match = _DATA.fullmatch(path.name)
    if match is None:
        raise FileFactError(f"{path.name}: not a data file of Spark by its name")
    return match["job"]


FORMATS = (
    HiveFiles("hive-avro", "avro", no_small="row_groups=small: Avro's files have no row groups"),
    HiveFiles(
        "hive-orc",
        "orc",
        # `OrcMapreduceRecordWriter` of ORC 1.9, as Spark 3.5 makes it; seen with 3 rows.
        no_small=(
            "row_groups=small: Spark hands ORC's writer 1,024 rows at a time, and a stripe never "
            "ends among them; no table here has so many"
        ),
    ),
    HiveFiles(
        "hive-parquet",
        "parquet",
        # Decimals as Hive's own reader expects them.
        (("spark.sql.parquet.writeLegacyFormat", "true"),),
        # Sizes are looked at after each row, instead of 100.
        small=(("parquet.block.size", "1"), ("parquet.page.size.row.check.min", "1")),
    ),
    HiveFiles("hive-text", "textfile", no_small="row_groups=small: text files have no row groups"),
)
