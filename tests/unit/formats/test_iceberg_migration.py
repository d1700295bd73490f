"""Iceberg tables that begin as plain ones, and columns in which NULL is forbidden."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness import formats
from harness.artifacts import distributions
from harness.formats import other_writers
from harness.formats.iceberg.migration import DYNAMIC, LEGACY_FORMAT
from harness.model.datatypes import parse_type
from harness.model.table import Table
from harness.model.truth import Truth
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import ChangeNullability
from harness.scenario.operations.row_writes import Insert, Upsert
from harness.scenario.statements import recorded

ICEBERG = formats.load("iceberg")
TABLE = Table((("id", parse_type("string")), ("a", parse_type("int"))), "id")
MIGRATED = {"created_by": "migrate", "file_format": "orc"}
SNAPSHOT = {"created_by": "snapshot"}


def said(settings: dict[str, str], *operations: Operation, table: Table = TABLE) -> list[str]:
    """Return the statements of the last operation."""
    before, after = histories(*operations, table=table)
    return [*map(recorded, ICEBERG.wording(operations[-1], before, after, settings))]


def histories(*operations: Operation, table: Table = TABLE) -> Sequence[Truth]:
    """Return the table before and after the last operation."""
    scenario = Scenario("x", table, tuple(map(Step, operations)))
    applied = [True] * len(operations)
    return expected_history.history(scenario, merge_on_read=False, applied=applied)[-2:]


def test_a_plain_table_gets_the_rows_of_the_first_step_and_is_migrated() -> None:
    (made,) = map(recorded, ICEBERG.create(TABLE, MIGRATED))
    assert made == (
        "create table {database}.t (`id` string, `a` int) stored as orc location 'file:{location}'"
    )
    write, call = said(MIGRATED, Insert((1,)))
    assert write.startswith("insert into {database}.t select ")
    assert call.startswith(
        "call spark_catalog.system.migrate(table => '{database}.t', "
        "properties => map('format-version', '2', "
    )
    assert "'write.format.default', 'orc'" in call


def test_the_plain_table_may_have_partitions_and_each_row_says_its_own() -> None:
    by = Table(TABLE.columns, "id", partition_by=("a",))
    (made,) = map(recorded, ICEBERG.create(by, MIGRATED))
    assert "(`id` string) partitioned by (`a` int) stored as orc" in made
    told, write, back, call = said(MIGRATED, Insert((1,)), table=by)
    assert (told, back) == tuple(f"set {DYNAMIC[0]}={literal}" for literal in DYNAMIC[1:])
    assert write.startswith("insert into {database}.t select ")
    assert [call] == said(MIGRATED, Insert((1,)))[1:]


def test_trino_migrates_what_spark_filled() -> None:
    trino = distributions.load("trino-476")
    before, after = histories(Insert((1,)))
    told = other_writers.wording(trino, ICEBERG, Insert((1,)), before, after, MIGRATED)
    write, call = map(recorded, told)
    assert write == f"by the writer that made the table: {said(MIGRATED, Insert((1,)))[0]}"
    schema = "schema_name => '{database}', table_name => 't'"
    assert call == f'call "iceberg".system.migrate({schema})'


@pytest.mark.parametrize(
    ("by", "settings", "can"),
    [
        ("trino-476", MIGRATED, True),
        ("trino-476", SNAPSHOT, False),
        ("hive-3.1.3-iceberg-1.4.3", MIGRATED, False),
    ],
)
def test_no_other_writer_migrates(by: str, settings: dict[str, str], can: bool) -> None:  # noqa: FBT001
    scenario = Scenario("x", TABLE, (Step(Insert((1,)), by=by),))
    assert (ICEBERG.unsupported_settings(settings, scenario) == "") is can


def test_a_snapshot_is_made_of_a_plain_table_which_then_goes() -> None:
    (made,) = map(recorded, ICEBERG.create(TABLE, SNAPSHOT))
    assert "create table {database}.plain " in made
    assert made.endswith("location 'file:{location}/plain'")
    write, call, gone = said(SNAPSHOT, Insert((1,)))
    assert write.startswith("insert into {database}.plain select ")
    own = "table => '{database}.t', location => 'file:{location}'"
    assert f"snapshot(source_table => '{{database}}.plain', {own}, properties => map(" in call
    assert gone == "drop table {database}.plain"


def test_the_files_may_have_an_old_layout() -> None:
    told, *same, back, call = said({**MIGRATED, "created_by": "migrate_legacy"}, Insert((1,)))
    assert (told, back) == (f"set {LEGACY_FORMAT}=true", f"set {LEGACY_FORMAT}=false")
    assert [*same, call] == said(MIGRATED, Insert((1,)))


@pytest.mark.parametrize("settings", [MIGRATED, SNAPSHOT])
def test_later_inserts_are_those_of_an_iceberg_table(settings: dict[str, str]) -> None:
    (told,) = said(settings, Insert((1,)), Insert((2,)))
    assert told.startswith("insert into {database}.t select ")


@pytest.mark.parametrize("settings", [MIGRATED, SNAPSHOT])
def test_a_table_is_not_migrated_where_the_first_step_inserts_nothing(
    settings: dict[str, str],
) -> None:
    def why(first: Operation, partition_by: tuple[str, ...] = ()) -> str:
        table = Table(TABLE.columns, "id", partition_by=partition_by)
        return ICEBERG.unsupported_settings(settings, Scenario("x", table, (Step(first),)))

    assert why(Insert((1,))) == ""
    assert "the first step does not insert" in why(Upsert((1,)))
    assert why(Insert((1,)), ("a",)) == ""
    assert "behind all others" in why(Insert((1,)), ("id",))


def test_a_table_that_begins_as_a_plain_one_has_no_metadata_at_first(tmp_path: Path) -> None:
    assert ICEBERG.creation_problem(tmp_path, SNAPSHOT) == ""
    assert ICEBERG.creation_problem(tmp_path, {}) == "the writer made no metadata file"


def test_null_is_forbidden_by_the_library_and_allowed_by_sql() -> None:
    forbid, allow = (ChangeNullability("a", nullable=each) for each in (False, True))
    assert said({}, Insert((1,)), forbid) == ['Iceberg: require_column {"name": "a"}']
    assert said({}, Insert((1,)), allow) == [
        "alter table {database}.t alter column `a` drop not null"
    ]
