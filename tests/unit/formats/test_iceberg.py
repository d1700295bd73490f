"""What the Iceberg format says: creation, wording, and what it makes of a table's metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.formats.iceberg.settings import MODES
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.table import Table
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Delete, Insert, Rewrites, Touch, Upsert
from harness.scenario.operations.services import Compact
from harness.scenario.statements import recorded
from tests.unit.formats.iceberg_table import Folder

ICEBERG = formats.load("iceberg")
COLUMNS = {"id": "int", "ts": "long", "p": "string", "a": "string"}
TABLE = Table(tuple((n, parse_type(t)) for n, t in COLUMNS.items()), "id", "ts", ("p",))


def wordings(*operations: Operation) -> list[str]:
    """Return the statements of the last operation."""
    done = [True] * len(operations)
    scenario = Scenario("x", TABLE, tuple(map(Step, operations)))
    history = expected_history.history(scenario, merge_on_read=False, applied=done)
    return [*map(recorded, ICEBERG.wording(operations[-1], history[-2], history[-1], {}))]


def wording(*operations: Operation) -> str:
    """Return the one statement of the last operation."""
    (said,) = wordings(*operations)
    return said


def test_spark_minds_upper_and_lower_case_while_nothing_else_of_a_name_changes() -> None:
    assert wordings(RenameColumn("a", "A")) == [
        "set spark.sql.caseSensitive=true",
        "alter table {database}.t rename column `a` to `A`",
        "set spark.sql.caseSensitive=false",
    ]
    assert wording(RenameColumn("a", "B")) == "alter table {database}.t rename column `a` to `B`"


def test_a_table_is_created_for_hive_too_at_a_location_with_a_scheme() -> None:
    (said,) = ICEBERG.create(TABLE, {})
    assert recorded(said) == (
        "create table {database}.t (`id` int, `ts` bigint, `p` string, `a` string) using iceberg "
        "partitioned by (`p`) location 'file:{location}' tblproperties ('format-version' = '2', "
        "'engine.hive.enabled' = 'true', 'write.delete.mode' = 'copy-on-write', "
        "'write.update.mode' = 'copy-on-write', 'write.merge.mode' = 'copy-on-write')"
    )


def test_every_way_of_changing_rows_follows_the_mode() -> None:
    (said,) = ICEBERG.create(TABLE, {"delete_mode": "merge-on-read"})
    assert recorded(said).count("merge-on-read") == len(MODES)


def test_the_compression_of_files_is_left_to_iceberg_unless_it_is_named() -> None:
    (said,), (left,) = (ICEBERG.create(TABLE, entry) for entry in ({"compression": "gzip"}, {}))
    assert "'write.parquet.compression-codec' = 'gzip'" in recorded(said)
    assert "codec" not in recorded(left)


def test_new_rows_are_inserted_in_one_file_in_the_order_of_the_table() -> None:
    said = wording(Insert(keys=(1, 2)))
    assert said.startswith("insert into {database}.t select /*+ coalesce(1) */ * from (select 1 as")
    assert said.index("as `ts`") < said.index("as `p`") < said.index("as `a`")
    assert said.count("union all") == 1


@pytest.mark.parametrize(
    ("operation", "rows"),
    [(Upsert(keys=(1, 3)), 2), (Touch(Rewrites.ALL), 3)],  # one of each partition, and a new one
    ids=["upsert", "touch"],
)
def test_rows_that_are_there_are_replaced_by_a_merge(operation: Operation, rows: int) -> None:
    said = wording(Insert(keys=(1, 2)), operation)
    assert said.startswith("merge into {database}.t as t using (select /*+ coalesce(1) */ * from (")
    assert said.endswith(
        ") as s on t.`id` = s.`id` when matched then update set * when not matched then insert *"
    )
    assert said.count("union all") == rows - 1


def test_a_touch_or_upsert_of_new_rows_alone_is_an_insert() -> None:
    for operation in (Touch(Rewrites.NONE), Upsert(keys=(7,))):
        assert wording(Insert(keys=(1,)), operation).startswith("insert into {database}.t select")


def test_what_the_common_sql_says_is_said_so() -> None:
    assert wording(RenameColumn("a", "b")) == "alter table {database}.t rename column `a` to `b`"
    said = wording(Insert(keys=(1,)), Delete(keys=(1,)))
    assert said.startswith("delete from {database}.t where `id` in (1)")


def test_a_compaction_leaves_files_alone_of_which_no_row_is_deleted() -> None:
    said = wording(Insert(keys=(1,)), Compact())
    assert said.startswith("call spark_catalog.system.rewrite_data_files(table => '{database}.t'")
    assert "'delete-file-threshold', '1', 'min-file-size-bytes', '0'" in said


def test_a_compaction_that_made_nothing_left_undone_what_there_was_to_do() -> None:
    base = FileFact("a", FileKind.BASE, "a", "1", ())
    log = FileFact("d", FileKind.LOG, "a", "2", (), (), ("1",))
    assert ICEBERG.missing_effect(Path(), Compact(), (base,)) == ""
    assert "in 1 data files" in ICEBERG.missing_effect(Path(), Compact(), (base, log, log))
    assert ICEBERG.missing_effect(Path(), RenameColumn("a", "b"), (base, log)) == ""


def test_there_is_one_view_and_one_entry() -> None:
    assert {view: ICEBERG.table_for(view) for view in ICEBERG.views} == {"snapshot": "t"}
    assert ICEBERG.absolute_paths


def test_a_table_made_otherwise_than_asked_for_is_told(tmp_path: Path) -> None:
    folder, asked = Folder(tmp_path), {"delete_mode": "merge-on-read"}
    assert ICEBERG.creation_problem(tmp_path, asked) == "the writer made no metadata file"
    made = {"engine.hive.enabled": "true", **dict.fromkeys(MODES, "merge-on-read")}
    folder.metadata(0, properties=made)
    assert ICEBERG.creation_problem(tmp_path, asked) == ""
    assert ICEBERG.creation_problem(tmp_path, {}).endswith(", ".join(MODES))
    folder.metadata(1, **{"properties": made, "format-version": 3})
    assert "the writer made version 3" in ICEBERG.creation_problem(tmp_path, asked)


def test_instants_are_snapshots_and_the_version_is_the_formats(tmp_path: Path) -> None:
    assert (ICEBERG.instants(tmp_path), ICEBERG.table_version(tmp_path)) == ((), "")
    folder = Folder(tmp_path)
    folder.commit(70)
    folder.commit(60)
    folder.metadata(2)
    assert (ICEBERG.instants(tmp_path), ICEBERG.table_version(tmp_path)) == (("70", "60"), "2")
