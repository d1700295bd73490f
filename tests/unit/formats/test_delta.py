"""What the Delta format says: creation, wording, and what it cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.table import Table
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.failed_writes import KilledWrite
from harness.scenario.operations.row_writes import Insert, Truncate, Upsert
from harness.scenario.operations.services import Clean, Cluster, Compact
from harness.scenario.operations.snapshots import Restore, Rollback, Savepoint
from harness.scenario.statements import recorded

DELTA = formats.load("delta")
COLUMNS = {"id": "int", "ts": "long", "p": "string", "a": "string"}
TABLE = Table(tuple((n, parse_type(t)) for n, t in COLUMNS.items()), "id", "ts", ("p",))
LATER = {"column_mapping": "later"}


def wordings(*operations: Operation, **settings: str) -> list[str]:
    """Return the statements of the last operation."""
    done = [True] * len(operations)
    scenario = Scenario("x", TABLE, tuple(map(Step, operations)))
    history = expected_history.history(scenario, merge_on_read=False, applied=done)
    return [*map(recorded, DELTA.wording(operations[-1], history[-2], history[-1], settings))]


def test_a_table_is_created_at_a_location_with_a_scheme_and_no_property_by_default() -> None:
    (said,) = DELTA.create(TABLE, {})
    assert recorded(said) == (
        "create table {database}.t (`id` int, `ts` bigint, `p` string, `a` string) using delta "
        "partitioned by (`p`) location 'file:{location}'"
    )


def test_settings_become_properties_of_the_table() -> None:
    (said,) = DELTA.create(TABLE, {"column_mapping": "id", "deletion_vectors": "on"})
    assert recorded(said).endswith(
        "tblproperties ('delta.columnMapping.mode' = 'id', 'delta.enableDeletionVectors' = 'true')"
    )
    (said,) = DELTA.create(TABLE, {"change_data_feed": "on"})
    assert recorded(said).endswith("tblproperties ('delta.enableChangeDataFeed' = 'true')")
    (said,) = DELTA.create(TABLE, {"type_widening": "off"})
    assert recorded(said).endswith("tblproperties ('delta.enableTypeWidening' = 'false')")


def test_mapping_comes_later_with_the_second_step_alone() -> None:
    (said,) = DELTA.create(TABLE, LATER)
    assert "columnMapping" not in recorded(said)
    first, rename = Insert(keys=(1,)), RenameColumn("a", "b")
    assert len(wordings(first, **LATER)) == 1
    switch, renamed = wordings(first, rename, **LATER)
    assert switch.startswith("alter table {database}.t set tblproperties ('delta.columnMapping")
    assert renamed == "alter table {database}.t rename column `a` to `b`"
    assert wordings(first, rename, RenameColumn("b", "c"), **LATER) == [
        "alter table {database}.t rename column `b` to `c`"
    ]
    assert "no second step" in DELTA.unsupported_settings(
        LATER, Scenario("x", TABLE, (Step(first),))
    )


def test_rows_that_are_there_are_merged_by_the_key() -> None:
    (new,) = wordings(Insert(keys=(1,)))
    assert new.startswith("insert into {database}.t select /*+ coalesce(1) */ * from (select 1 as")
    (both,) = wordings(Insert(keys=(1,)), Upsert(keys=(1, 2)))
    assert both.startswith("merge into {database}.t as ")
    assert both.endswith("when matched then update set * when not matched then insert *")


def test_who_is_killed_merges_rows_that_are_there_and_inserts_others() -> None:
    (told,) = wordings(Insert((1,)), KilledWrite((1, 3)))
    assert told.startswith("killed when it comes to the commit: merge into {database}.t ")
    (told,) = wordings(Insert((1,)), KilledWrite((3,)))
    assert told.startswith("killed when it comes to the commit: insert into {database}.t ")


def test_services_have_the_words_of_delta() -> None:
    first = Insert(keys=(1,))
    assert wordings(first, Compact()) == ["reorg table {database}.t apply (purge)"]
    assert wordings(first, Cluster()) == ["optimize {database}.t"]
    clean = wordings(first, Clean())
    assert clean[len(clean) // 2] == "vacuum {database}.t retain 0 hours"
    before, after = (sorted(text.partition("=")[0] for text in s) for s in (clean[:2], clean[3:]))
    assert before == after  # what is set is put back
    assert wordings(first, Truncate()) == ["delete from {database}.t"]


def test_a_table_is_restored_to_the_version_that_the_saved_step_made() -> None:
    saved = (Insert(keys=(1,)), Savepoint())
    assert wordings(*saved) == []
    assert wordings(*saved, Insert(keys=(2,)), Restore()) == [
        "restore table {database}.t to version as of {instant of step 1}"
    ]


@pytest.mark.parametrize(
    "operation", [Rollback(), Compact(ServiceMode.SCHEDULE), Cluster(ServiceMode.SCHEDULE)]
)
def test_what_has_no_meaning_is_not_planned(operation: Operation) -> None:
    assert DELTA.unsupported(operation).startswith("delta ")
    assert (
        DELTA.unsupported(Savepoint())
        == DELTA.unsupported(Restore())
        == DELTA.unsupported(Clean())
        == ""
    )


def test_a_service_that_left_something_undone_says_what(tmp_path: Path) -> None:
    bases = [FileFact(path, FileKind.BASE, path, "1", ()) for path in ("p=1/a", "p=1/b", "p=2/c")]
    log = FileFact("p=2/c", FileKind.LOG, "p=2/c", "2", (), (), ("1",))
    assert "several data files" in DELTA.missing_effect(tmp_path, Cluster(), bases)
    assert DELTA.missing_effect(tmp_path, Cluster(), bases[1:]) == ""
    assert "rows were deleted in 1 data files" in DELTA.missing_effect(tmp_path, Compact(), [log])
    assert DELTA.missing_effect(tmp_path, Compact(), bases) == ""


def test_a_table_that_is_not_as_asked_for_is_told() -> None:
    folder = Path(__file__).parent / "delta_tables" / "mapped_later"
    assert DELTA.creation_problem(folder, {"column_mapping": "name"}) == ""
    assert "deletion" in DELTA.creation_problem(folder, {"deletion_vectors": "on"}).lower()
    assert "Widening" in DELTA.creation_problem(folder, {"type_widening": "on"})
    assert DELTA.creation_problem(folder / "nothing", {}) == "the writer made no log"
