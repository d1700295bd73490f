"""The settings of Iceberg's tables: what they are called there, and which tables can have them.

Source: Iceberg documentation, "Configuration" ("Write properties"). Pure.
"""

from __future__ import annotations

from typing import Final

from harness.formats import layout
from harness.formats.api import CREATED_BY, VariantSettings
from harness.scenario.definition import IN_BRANCH, STAGED_BY, Scenario, Step
from harness.scenario.operations.partition_spec import AddPartitionField, ReplacePartitionField
from harness.scenario.operations.row_writes import Delete
from harness.scenario.operations.second_writer import BeginWrite

FORMAT_VERSION: Final = "format_version"
VERSION: Final = "2"
NEWEST: Final = "3"
MODES: Final = ("write.delete.mode", "write.update.mode", "write.merge.mode")
DELETE_MODE: Final = "delete_mode"
COPY_ON_WRITE: Final = "copy-on-write"
MERGE_ON_READ: Final = "merge-on-read"
EQUALITY: Final = "equality"
FILE_FORMAT: Final = "file_format"
PARQUET: Final = "parquet"
FILE_FORMATS: Final = ("write.format.default", "write.delete.format.default")
COMPRESSION: Final = "compression"
CODEC: Final = "write.parquet.compression-codec"
ROW_GROUPS: Final = "row_groups"
SETTINGS: Final = {
    DELETE_MODE: (COPY_ON_WRITE, MERGE_ON_READ, EQUALITY),
    FORMAT_VERSION: (VERSION, NEWEST),
    FILE_FORMAT: (PARQUET, "orc", "avro"),
    COMPRESSION: ("zstd", "gzip"),
    ROW_GROUPS: ("usual", "small"),
    STAGED_BY: ("id", IN_BRANCH),
    CREATED_BY: ("sql", "migrate", "snapshot", "migrate_legacy"),
}
"""How `delete`, `update` and `merge` change rows: by new data files, or by position delete files
that name the rows which are gone (in format version 3 by deletion vectors). With `equality`, a
`delete` names the keys that are gone, and the others do as in merge-on-read. Absent is
copy-on-write, Iceberg's default. The compression of data files, absent, is Iceberg's default too:
Zstandard since 1.4. With small row groups each row of a data file has one of its own, and a page. A
write that is begun and committed later has an id of its own, or a branch. A table is created as one
of Iceberg's, or begins as a plain Hive table with the rows of the first step.
"""
SMALL: Final = (
    ("write.parquet.row-group-size-bytes", "1"),
    ("write.parquet.row-group-check-min-record-count", "1"),
    ("write.parquet.row-group-check-max-record-count", "1"),
)


def unsupported(settings: VariantSettings, scenario: Scenario) -> str:
    """Return why there are no rows for two row groups, or no deletes by keys; empty where are."""
    if settings.get(ROW_GROUPS) == "small":
        if settings.get(FILE_FORMAT, PARQUET) != PARQUET:
            return f"row_groups=small is a setting of Parquet, and file_format is not {PARQUET}"
        if why := layout.one_row_group(scenario):
            return why
    if COMPRESSION in settings and settings.get(FILE_FORMAT, PARQUET) != PARQUET:
        return f"compression is a setting of Parquet, and file_format is not {PARQUET}"
    if STAGED_BY in settings and not any(map(_begins, scenario.steps)):
        return f"{STAGED_BY}: no step begins a write that another one commits"
    return _no_equality(scenario) if settings.get(DELETE_MODE) == EQUALITY else ""


def _begins(step: Step) -> bool:
    return isinstance(step.operation, BeginWrite)


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
    if not any(isinstance(step.operation, Delete) for step in scenario.steps):
        return "delete_mode=equality: no step deletes rows"
    partitioning = (AddPartitionField, ReplacePartitionField)
    if table.partition_by or any(
        isinstance(step.operation, partitioning) for step in scenario.steps
    ):
        return "delete_mode=equality: deletes by value are written for tables without partitions"
    if str(dict(table.columns)[table.key]) == "long":
        return "delete_mode=equality: deletes by value are written for keys of string and int"
    return ""
