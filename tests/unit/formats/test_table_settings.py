"""Settings of tables: what a writer is told of them, and which tables cannot have them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness import formats
from harness.artifacts import distributions
from harness.model.datatypes import parse_type
from harness.model.table import MergeMode, Table
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.late_writes import LateDelete, LateUpsert
from harness.scenario.operations.row_writes import (
    DeletePartition,
    Insert,
    MoveRow,
    Overwrite,
    OverwriteScope,
    Rewrites,
    Touch,
    Truncate,
    Upsert,
)
from harness.scenario.statements import recorded

COLUMNS = {"id": "int", "ts": "long", "a": "string", "p": "string"}
ADD = AddColumn("n", parse_type("long"))
TWO = Insert(keys=(1, 3))
MANY = Insert(keys=tuple(range(1, 102)))
ESCAPED = Insert(rows=({"id": 1, "p": "a=b"},))
OPERATION = "hoodie.spark.sql.insert.into.operation"


def scenario(*operations: Operation, partitioned: bool = False) -> Scenario:
    columns = tuple((name, parse_type(text)) for name, text in COLUMNS.items())
    table = Table(columns, "id", "ts", ("p",) if partitioned else ())
    return Scenario("x", table, tuple(map(Step, operations)))


def said(name: str, *operations: Operation, partitioned: bool = False, **settings: str) -> str:
    """Return the statements of the last operation."""
    of = scenario(*operations, partitioned=partitioned)
    history = expected_history.history(of, merge_on_read=False, applied=[True] * len(operations))
    told = formats.load(name).wording(operations[-1], history[-2], history[-1], settings)
    return "; ".join(map(recorded, told))


def refused(name: str, *operations: Operation, partitioned: bool = False, **settings: str) -> str:
    of = scenario(*operations, partitioned=partitioned)
    return formats.load(name).unsupported_settings(settings, of)


@pytest.mark.parametrize(
    ("name", "operation", "partitioned", "setting", "why"),
    [
        ("hudi-cow", TWO, False, "index=record_level", "metadata_table is off"),
        ("hudi-cow", TWO, False, "index=global_bloom", "no partitions, so it would be index=bloom"),
        ("hudi-mor", TWO, False, "index=global_simple", "so it would be index=simple"),
        ("hudi-mor", TWO, False, "partition_columns=dropped", "the table has no partitions"),
        ("hudi-mor", Upsert(keys=(1,)), False, "insert_operation=insert", "no step is an insert"),
        ("hudi-mor", TWO, False, "encoded_partitions=on", "the table has no partitions"),
        ("hudi-mor", TWO, True, "encoded_partitions=on", "no value of a partition has a character"),
        ("hudi-cow", TWO, False, "schema_changes=write_client", "no step changes the columns"),
        ("hudi-cow", TWO, False, "row_groups=small", "100 rows of a file; .* this table has 2"),
        ("hive-parquet", Insert(keys=(1,)), False, "row_groups=small", "every file .* has one row"),
        ("iceberg", Insert(keys=(1,)), False, "row_groups=small", "every file .* has one row"),
        ("hive-orc", MANY, False, "row_groups=small", "1,024 rows at a time"),
        ("hive-orc", ADD, False, "cascade=off", "the table has no partitions"),
        ("hive-orc", TWO, True, "cascade=off", "no step changes the columns"),
    ],
)
def test_a_value_that_a_table_cannot_have_is_refused_with_the_reason(
    name: str, operation: Operation, *, partitioned: bool, setting: str, why: str
) -> None:
    key, value = setting.split("=")
    told = refused(name, operation, partitioned=partitioned, **{key: value})
    assert told.startswith(setting)
    assert re.search(why, told)
    usual = formats.load(name).settings[key][0]
    assert refused(name, operation, partitioned=partitioned, **{key: usual}) == ""


@pytest.mark.parametrize(
    ("name", "operation", "partitioned", "settings"),
    [
        ("hudi-cow", TWO, False, {"index": "record_level", "metadata_table": "on"}),
        ("hudi-cow", TWO, True, {"index": "global_bloom"}),
        ("hudi-cow", TWO, True, {"index": "global_simple"}),
        ("hudi-cow", TWO, True, {"partition_columns": "dropped"}),
        ("hudi-mor", TWO, False, {"insert_operation": "bulk_insert"}),
        ("hudi-mor", ESCAPED, True, {"encoded_partitions": "on"}),
        ("hudi-cow", MANY, False, {"row_groups": "small"}),
        ("hive-parquet", TWO, False, {"row_groups": "small"}),
        ("iceberg", TWO, False, {"row_groups": "small"}),
        ("hive-orc", ADD, True, {"cascade": "off"}),
    ],
)
def test_a_value_is_not_refused_where_the_table_can_have_it(
    name: str, operation: Operation, *, partitioned: bool, settings: dict[str, str]
) -> None:
    assert refused(name, operation, partitioned=partitioned, **settings) == ""


def test_only_an_insert_is_sent_under_another_operation() -> None:
    insert = said("hudi-cow", TWO, insert_operation="bulk_insert")
    assert insert.startswith(f"set {OPERATION}=bulk_insert; insert into")
    assert insert.endswith(f"set {OPERATION}=upsert")
    # These replace rows by their key, which `insert` and `bulk_insert` do not do.
    for operation in (Upsert(keys=(1, 5)), Touch(Rewrites.ALL)):
        assert "set " not in said("hudi-cow", TWO, operation, insert_operation="bulk_insert")
    assert "set " not in said("hudi-cow", TWO)


@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
def test_a_table_declares_its_merge_mode_in_the_words_of_each_version(name: str) -> None:
    table = replace(scenario(TWO).table, merge_mode=MergeMode.COMMIT_TIME)
    (create,) = map(recorded, formats.load(name).create(table, {}))
    assert "'hoodie.record.merge.mode' = 'COMMIT_TIME_ORDERING'" in create
    assert "'org.apache.hudi.common.model.OverwriteWithLatestAvroPayload'" in create
    table = replace(table, merge_mode=MergeMode.PARTIAL_UPDATE)
    (create,) = map(recorded, formats.load(name).create(table, {}))
    assert "'org.apache.hudi.common.model.PartialUpdateAvroPayload'" in create
    assert "merge.mode" not in create
    (plain,) = map(recorded, formats.load(name).create(scenario(TWO).table, {}))
    assert "merge.mode" not in plain


@pytest.mark.parametrize("late", [LateUpsert((1,)), LateDelete((1,))])
def test_only_hudi_has_late_versions(late: Operation) -> None:
    cannot = {name: formats.load(name).unsupported(late) for name in formats.names()}
    assert [name for name, why in cannot.items() if not why] == ["hudi-cow", "hudi-mor"]
    assert cannot["iceberg"] == (
        "iceberg orders no versions of a row: the last write stands, late or not"
    )


def test_which_formats_can_be_overwritten_emptied_and_lose_a_partition() -> None:
    can = {
        type(operation).__name__: [
            name for name in formats.names() if not formats.load(name).unsupported(operation)
        ]
        for operation in (Overwrite((1,)), Truncate(), DeletePartition(1))
    }
    assert can == {
        "Overwrite": ["delta", "hive-acid", "hudi-cow", "hudi-mor", "iceberg"],
        "Truncate": ["delta", "hive-acid", "hudi-cow", "hudi-mor", "iceberg"],
        "DeletePartition": ["hudi-cow", "hudi-mor"],
    }


def test_one_partition_is_named_by_the_values_of_its_columns() -> None:
    over = said("hudi-cow", TWO, Overwrite((1,), OverwriteScope.PARTITION), partitioned=True)
    assert over.startswith("insert overwrite table {database}.t partition (`p` = 'p1') select 1 as")
    assert "as `p`" not in over
    drop = said("hudi-cow", TWO, DeletePartition(3), partitioned=True)
    assert drop == "alter table {database}.t drop partition (`p` = 'p0')"


def test_partitions_stay_as_they_are_without_cascade() -> None:
    follows, stays = (
        said("hive-parquet", TWO, ADD, partitioned=True, cascade=literal)
        for literal in ("on", "off")
    )
    assert follows.replace(", and of partitions", "") == stays != follows
    assert said("hive-parquet", TWO, ADD, partitioned=True) == follows


def test_rows_that_are_to_share_a_plain_file_are_written_by_one_task() -> None:
    for operation in (TWO, Touch(Rewrites.NONE)):
        story = (operation,) if operation is TWO else (TWO, operation)
        usual, small = (
            said("hive-parquet", *story, row_groups=literal) for literal in ("usual", "small")
        )
        rows = usual.removeprefix("insert into {database}.t ")
        assert small == f"insert into {{database}}.t select /*+ coalesce(1) */ * from ({rows})"


@pytest.mark.parametrize(
    "setting", ["column_drops", "index", "metadata_table", "record_merger", "row_groups"]
)
def test_every_value_of_a_setting_is_told_in_words_of_its_own(setting: str) -> None:
    hudi = formats.load("hudi-cow")
    told = [
        frozenset(hudi.session({setting: value}, {"spark_merger": "a.Merger"}).items())
        for value in hudi.settings[setting]
    ]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("version", ["0.15.0", "1.0.2", "1.2.0"])
def test_every_writer_of_hudi_says_what_its_merger_is_called(version: str) -> None:
    names = distributions.load(f"spark-3.5.8-hudi-{version}").options_if_any("names")
    told = formats.load("hudi-mor").session({"record_merger": "spark"}, names)
    assert told["hoodie.datasource.write.record.merger.impls"].endswith("SparkRecordMerger")


def test_a_new_table_whose_partitions_are_not_encoded_as_asked_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / ".hoodie"
    folder.mkdir()
    text = "hoodie.table.version=6\nhoodie.datasource.write.partitionpath.urlencode=false\n"
    (folder / "hoodie.properties").write_text(text, encoding="utf-8")
    hudi = formats.load("hudi-cow")
    assert "urlencode=true was asked for" in hudi.creation_problem(
        folder.parent, {"encoded_partitions": "on"}
    )
    assert hudi.creation_problem(folder.parent, {"encoded_partitions": "off"}) == ""


@pytest.mark.parametrize(("settings", "usual"), [({}, "SIMPLE"), ({"index": "bloom"}, "BLOOM")])
def test_a_row_moves_under_an_index_of_all_partitions(settings: dict[str, str], usual: str) -> None:
    told = said("hudi-mor", Insert(keys=(1, 2)), MoveRow(1, 2), partitioned=True, **settings)
    assert told.startswith("set hoodie.index.type=GLOBAL_SIMPLE; ")
    assert told.endswith(f"; set hoodie.index.type={usual}")
    assert "iceberg has no index" in formats.load("iceberg").unsupported(MoveRow(1, 2))
