from dataclasses import replace
from typing import Any

import pytest

from harness.usage.usage_file import (
    Fact,
    OldFiles,
    SchemaChange,
    Usage,
    UsedChange,
    UsedFormat,
    UsedTable,
)
from harness.usage.weigh import Need, meets, not_ruled_out

RENAMED = UsedChange(SchemaChange.RENAME, "f1", "g", old_files=OldFiles.YES)
MINE = UsedTable(
    "d.t",
    UsedFormat.HUDI_MOR,
    "read_optimized",
    "6",
    partitioned=True,
    features=("log-files", "pending-compaction"),
    schema_changes=(RENAMED,),
)
UNSURE = "files do not tell a column that was renamed from one dropped and one added"


def usage(*tables: UsedTable) -> Usage:
    return Usage(1, "thrift://m:1", "", tables)


def words(*texts: str) -> frozenset[str]:
    return frozenset(texts)


@pytest.mark.parametrize(
    "need",
    [
        Need(),
        Need(operation="insert"),
        Need(views=words("read_optimized", "snapshot"), features=words("log-files")),
        Need(words("hudi-mor"), "rename_column", words("5", "6"), partitioned=True),
    ],
)
def test_a_table_that_fits_meets_a_cause(need: Need) -> None:
    assert meets(usage(MINE), need) == ("d.t",)
    assert not_ruled_out(usage(MINE), need) == {}


@pytest.mark.parametrize(
    "need",
    [
        Need(words("iceberg")),
        Need(operation="drop_column"),
        Need(table_versions=words("8")),
        Need(partitioned=False),
        Need(views=words("snapshot")),
        Need(features=words("log-files", "savepoint")),
    ],
)
def test_a_table_that_lacks_something_does_not(need: Need) -> None:
    assert meets(usage(MINE), need) == ()
    assert not_ruled_out(usage(MINE), need) == {}


def test_a_change_counts_where_files_from_before_it_are_read() -> None:
    assert meets(usage(changed(old_files=OldFiles.NO)), RENAME) == ()
    assert meets(usage(changed(old_files=OldFiles.YES)), RENAME) == ("d.t",)


def changed(**fields: Any) -> UsedTable:  # noqa: ANN401 - whatever a change has
    return replace(MINE, schema_changes=(replace(RENAMED, **fields),))


RENAME = Need(operation="rename_column")
TOO_MANY = replace(MINE, schema_changes=(), unknown=(Fact.SCHEMA_CHANGES,), why="too many")


@pytest.mark.parametrize(
    ("table", "need", "why"),
    [
        (changed(old_files=OldFiles.UNKNOWN), RENAME, f"schema changes unknown ({UNSURE})"),
        (changed(sure=False), RENAME, f"schema changes unknown ({UNSURE})"),
        (TOO_MANY, Need(operation="drop_column"), "schema changes unknown (too many)"),
        (
            replace(MINE, unknown=(Fact.FEATURES,), why="y"),
            Need(features=words("savepoint")),
            "features unknown (y)",
        ),
        (
            UsedTable("d.t", UsedFormat.OTHER, unknown=tuple(Fact), unread="gone"),
            Need(words("iceberg"), table_versions=words("2"), partitioned=True),
            "format unknown (gone); table version unknown (gone); partitioned unknown (gone)",
        ),
        (
            UsedTable("d.t", UsedFormat.HUDI, unknown=tuple(Fact), unread="gone"),
            Need(words("hudi-cow"), views=words("snapshot")),
            "format unknown (gone)",
        ),
    ],
)
def test_what_is_unknown_cannot_be_ruled_out(table: UsedTable, need: Need, why: str) -> None:
    assert meets(usage(table), need) == ("d.t",)
    assert not_ruled_out(usage(table), need) == {"d.t": f"cannot be ruled out: {why}"}


def test_one_fact_that_does_not_fit_rules_a_table_out_whatever_is_unknown() -> None:
    table = replace(MINE, unknown=(Fact.SCHEMA_CHANGES, Fact.FEATURES), why="z")
    assert meets(usage(table), Need(words("iceberg"), "drop_column")) == ()


def test_a_view_of_the_catalog_is_no_table() -> None:
    assert meets(usage(UsedTable("d.v", UsedFormat.VIEW)), Need()) == ()
