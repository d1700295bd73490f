"""How Spark is told of maintenance, snapshots, partition fields and deletes of Iceberg."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.formats.api import NO_COMMIT
from harness.formats.iceberg.table import IcebergMetadata
from harness.model.datatypes import parse_type
from harness.model.table import Table
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.failed_writes import KilledWrite
from harness.scenario.operations.partition_spec import (
    AddPartitionField,
    DropPartitionField,
    ReplacePartitionField,
)
from harness.scenario.operations.row_writes import AddFiles, Delete, Insert
from harness.scenario.operations.second_writer import BeginWrite, CommitWrite
from harness.scenario.operations.services import (
    Clean,
    RewriteManifests,
    RewritePositionDeletes,
    SetTableVersion,
)
from harness.scenario.operations.snapshots import CreateTag, RollbackToSnapshot
from harness.scenario.statements import recorded

ICEBERG = formats.load("iceberg")
COLUMNS = {"id": "int", "ts": "long", "a": "string"}
TABLE = Table(tuple((n, parse_type(t)) for n, t in COLUMNS.items()), "id", "ts")
CALL = "call spark_catalog.system."
ALL_OLD = "older_than => timestamp '2999-01-01 00:00:00'"
OF_TABLE = "table => '{database}.t'"


def said(*operations: Operation, mode: str = "merge-on-read", staged_by: str = "id") -> list[str]:
    """Return the statements of the last operation after an insert and the others."""
    done = (Insert((1, 2)), *operations)
    scenario = Scenario("x", TABLE, tuple(map(Step, done)))
    every = expected_history.history(scenario, merge_on_read=False, applied=[True] * len(done))
    settings = {"delete_mode": mode, "staged_by": staged_by}
    return [*map(recorded, ICEBERG.wording(done[-1], every[-2], every[-1], settings))]


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (Clean(), f"expire_snapshots({OF_TABLE}, {ALL_OLD}, retain_last => 1)"),
        (RewriteManifests(), f"rewrite_manifests({OF_TABLE})"),
        (
            RewritePositionDeletes(),
            f"rewrite_position_delete_files({OF_TABLE}, options => map('rewrite-all', 'true'))",
        ),
        (
            RollbackToSnapshot(1),
            f"rollback_to_snapshot({OF_TABLE}, snapshot_id => {{instant of step 1}})",
        ),
    ],
)
def test_a_procedure_is_called_with_the_table(operation: Operation, told: str) -> None:
    assert said(operation) == [CALL + told]


def test_partition_fields_are_told_with_their_columns_quoted() -> None:
    table = "alter table {database}.t"
    add, by_id = AddPartitionField("bucket(4, a)"), AddPartitionField("id")
    assert said(add) == [f"{table} add partition field bucket(4, `a`)"]
    replaced = said(by_id, ReplacePartitionField("id", "truncate(3, a)"))
    assert replaced == [f"{table} replace partition field `id` with truncate(3, `a`)"]
    assert said(by_id, DropPartitionField("id")) == [f"{table} drop partition field `id`"]


def test_a_staged_write_has_an_id_by_which_it_is_published() -> None:
    begun = BeginWrite(insert=(3,))
    enabled, named, _, reset = said(begun)
    assert "('write.wap.enabled' = 'true')" in enabled
    assert (named, reset) == ("set spark.wap.id=step-2", "reset spark.wap.id")
    published = said(begun, CommitWrite())
    assert published == [f"{CALL}publish_changes({OF_TABLE}, wap_id => 'step-2')"]


def test_a_staged_write_may_have_a_branch_to_which_main_is_brought() -> None:
    begun = BeginWrite(insert=(3,))
    _, named, _, reset = said(begun, staged_by="branch")
    assert (named, reset) == ("set spark.wap.branch=step-2", "reset spark.wap.branch")
    published = said(begun, CommitWrite(), staged_by="branch")
    assert published == [f"{CALL}fast_forward({OF_TABLE}, branch => 'main', to => 'step-2')"]


def test_who_is_killed_merges_rows_that_are_there_and_inserts_others() -> None:
    (told,) = said(KilledWrite((1, 3)))
    assert told.startswith("killed while it waits for the table's lock: merge into {database}.t ")
    (told,) = said(KilledWrite((3,)))
    assert told.startswith("killed while it waits for the table's lock: insert into {database}.t ")


def test_a_tag_has_a_name_by_the_step_that_creates_it() -> None:
    assert said(CreateTag()) == ["alter table {database}.t create tag `step-2`"]
    tags = {"refs": {"main": {"type": "branch"}, "step-2": {"type": "tag"}}}
    assert IcebergMetadata(tags).tags == ("step-2",)
    assert ICEBERG.missing_effect(Path(), CreateTag(), ()) == NO_COMMIT


@pytest.mark.parametrize("more", [(BeginWrite(insert=(3,)),), ()])
def test_a_table_has_no_staged_writes_where_no_step_begins_one(more: tuple[Operation, ...]) -> None:
    scenario = Scenario("x", TABLE, tuple(map(Step, (Insert((1,)), *more))))
    assert bool(ICEBERG.unsupported_settings({"staged_by": "branch"}, scenario)) is not bool(more)


def test_plain_files_are_made_in_the_table_s_folder_and_added() -> None:
    made, added = said(AddFiles((3,)))
    assert made.startswith("insert overwrite directory '{location}/added/2' using parquet select ")
    source = "source_table => '`parquet`.`{location}/added/2`'"
    assert added == f"{CALL}add_files({OF_TABLE}, {source})"


def test_rows_are_deleted_by_value_where_the_table_is_to_have_it_so() -> None:
    delete = Delete((1,), absent=(7,))
    told = 'Iceberg: delete_by_value {"column": "id", "values": [1, 7]}'
    assert said(delete, mode="equality") == [told]
    assert said(delete) == ["delete from {database}.t where `id` in (1, 7)"]


def test_a_table_goes_to_the_newest_version_alone() -> None:
    upgraded = "alter table {database}.t set tblproperties ('format-version' = '3')"
    assert said(SetTableVersion(3)) == [upgraded]
    assert not ICEBERG.unsupported(SetTableVersion(3))
    assert (
        ICEBERG.unsupported(SetTableVersion(2))
        == "iceberg tables can be brought to version 3, and no other"
    )


@pytest.mark.parametrize(
    ("steps", "table", "told"),
    [
        ((Delete((1,)),), TABLE, ""),
        ((), TABLE, "no step deletes rows"),
        ((AddPartitionField("a"), Delete((1,))), TABLE, "for tables without partitions"),
        ((Delete((1,)),), Table(TABLE.columns, "ts"), "for keys of string and int"),
        (
            (Delete((1,)),),
            Table(TABLE.columns, "id", "ts", ("a",)),
            "for tables without partitions",
        ),
    ],
)
def test_deletes_by_value_are_for_tables_that_can_have_them(
    steps: tuple[Operation, ...], table: Table, told: str
) -> None:
    scenario = Scenario("x", table, tuple(map(Step, steps)))
    why = ICEBERG.unsupported_settings({"delete_mode": "equality"}, scenario)
    assert why.endswith(told)
    assert bool(why) == bool(told)
