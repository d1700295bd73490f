from typing import Any, Final

import pytest

from harness.model.schema import MergeMode, SchemaChangeError
from harness.model.truth import History, Rows, Truth, last_write, rolled_back_to, row_values
from harness.scenario.operations.api import Operation
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import (
    Delete,
    DeletePartition,
    Insert,
    LateDelete,
    LateUpsert,
    MoveRow,
    Overwrite,
    OverwriteScope,
    Rewrites,
    Touch,
    Update,
    Upsert,
)
from harness.scenario.operations.services import Compact
from tests.builders.scenarios import scenario_of
from tests.builders.table_story import history, operation

ORDERED: Final[dict[str, Any]] = {
    "columns": {"id": "string", "ts": "long", "f1": "string"},
    "order_by": "ts",
}


def story(*operations: Operation, merge_on_read: bool = False, **table: Any) -> History:  # noqa: ANN401 - passed on
    return scenario_of(*operations, **table).truths(merge_on_read=merge_on_read).history()


def shown(truth: Truth, rows: Rows | None = None) -> list[tuple[Any, ...]]:
    rows = truth.rows if rows is None else rows
    return [row_values(row, truth.schema) for row in rows.values()]


def test_read_optimized_sees_inserts_at_once_and_later_changes_after_compaction() -> None:
    history = story(
        Insert((1, 2, 3)), Update((1,), ("f1",)), Delete((2,)), Compact(), merge_on_read=True
    )
    old = [("1", "f2s1r1"), ("2", "f2s1r2"), ("3", "f2s1r3")]
    assert [shown(truth, truth.base) for truth in history[1:4]] == [old, old, old]
    new = [("1", "f2s2r1"), ("3", "f2s1r3")]
    assert shown(history[3]) == shown(history[4], history[4].base) == new


def test_a_row_stays_in_its_partition_when_it_is_written_again() -> None:
    columns = {"id": "string", "p": "string", "f1": "string"}
    first, second = story(Insert((1, 2)), Upsert((2, 1)), columns=columns, partition_by=("p",))[1:]
    assert [(key, row.values[2]) for key, row in first.rows.items()] == [("1", "p1"), ("2", "p0")]
    assert {key: row.values[2] for key, row in second.rows.items()} == {"1": "p1", "2": "p0"}
    assert second.rows["1"].group == (1, ("p1",))


def test_a_touch_writes_one_row_of_the_file_groups_the_axis_names_and_a_new_one() -> None:
    inserts = tuple(Insert((at * 10 + 1, at * 10 + 2)) for at in range(12))
    changed = {}
    for rewrites in (None, Rewrites.NONE, Rewrites.SOME, Rewrites.ALL):
        before, after = story(*inserts, Touch(rewrites))[-2:]
        changed[rewrites] = [key for key in after.rows if after.rows[key] != before.rows.get(key)]
    assert changed[None] == changed[Rewrites.NONE] == ["113"]
    assert changed[Rewrites.SOME] == ["1", "21", "41", "61", "81", "101", "113"]
    assert changed[Rewrites.ALL] == [*(str(at * 10 + 1) for at in range(12)), "113"]


def test_by_event_time_what_comes_late_changes_nothing_and_is_kept_beside_the_rows() -> None:
    end = story(Insert((1, 2)), LateUpsert((1,)), LateDelete((2,)), **ORDERED)[-1]
    assert shown(end) == [("1", 201001, "f3s1r1"), ("2", 201002, "f3s1r2")]
    (late,) = filter(None, end.contested[2].values())
    assert row_values(late, end.schema) == ("1", 198001, "f3s2r1")
    assert end.contested[3] == {"2": None}


def test_by_commit_time_what_comes_late_stands() -> None:
    mode = {**ORDERED, "merge_mode": MergeMode.COMMIT_TIME}
    end = story(Insert((1, 2)), LateUpsert((1,)), LateDelete((2,)), **mode)[-1]
    assert shown(end) == [("1", 198001, "f3s2r1")]
    assert end.gone == {"2": 3}


def test_a_partial_update_keeps_the_newest_value_of_each_column_that_is_not_null() -> None:
    columns = {"id": "string", "ts": "long", "f1": "string", "f2": "string"}
    lacks = Upsert(rows=({"id": "1", "f1": None},))
    steps = Insert((1, 2)), lacks, Upsert(rows=({"id": "2", "f2": None},)), LateUpsert((1, 2))
    mode = {**ORDERED, "columns": columns, "merge_mode": MergeMode.PARTIAL_UPDATE}
    end = story(*steps, LateDelete((1,)), **mode)[-1]
    rows = [("1", 202001, "f3s1r1", "f4s2r1"), ("2", 203002, "f3s3r2", "f4s1r2")]
    assert [row_values(row, end.schema) for row in end.rows.values()] == rows
    sent = end.contested[2]["1"]
    assert sent is not None
    assert row_values(sent, end.schema) == ("1", 202001, None, "f4s2r1")


PARTED: Final[dict[str, Any]] = {
    "columns": {"id": "string", "f1": "string", "p": "string"},
    "partition_by": ("p",),
}


def test_a_row_that_moves_is_there_once_in_a_file_group_of_its_new_partition() -> None:
    end = story(Insert((1, 2)), MoveRow(1, 2), Upsert((1,)), **PARTED)[-1]
    assert shown(end) == [("1", "f2s3r1", "p0"), ("2", "f2s1r2", "p0")]
    assert [row.group for row in end.rows.values()] == [(2, ("p0",)), (1, ("p0",))]


@pytest.mark.parametrize(
    ("steps", "table", "why"),
    [
        ((Insert((1, 2, 3)), MoveRow(1, 3)), PARTED, "1 and 3 are in the same partition"),
        ((Insert((1, 2)), MoveRow(1, 2)), {}, "the table has no partitions"),
        ((Insert((1, 2)), MoveRow(1, 4)), PARTED, "no row has the key 4"),
    ],
)
def test_a_row_that_cannot_move_is_refused(
    steps: tuple[Operation, ...], table: dict[str, Any], why: str
) -> None:
    with pytest.raises(SchemaChangeError, match=why):
        story(*steps, **table)


def test_a_late_version_of_a_row_needs_an_ordering_value_that_is_less() -> None:
    explicit = Insert(rows=({"id": "1", "ts": -5},))
    with pytest.raises(SchemaChangeError, match="goes from -5 to 198001, which is not less"):
        story(explicit, LateUpsert((1,)), **ORDERED)
    with pytest.raises(SchemaChangeError, match="needs a table with an ordering column"):
        story(Insert((1,)), LateUpsert((1,)))


def test_nothing_comes_of_keys_that_no_row_has() -> None:
    steps = (
        *(Insert((1, 2)), Delete((2,), absent=(9,)), Update((1,), ("f1",), absent=(8,))),
        Merge(update=(1,), absent=(7,)),
    )
    end = story(*steps)[-1]
    assert list(end.rows) == ["1"]
    assert [list(sent) for sent in end.contested.values()] == [["8"], ["7"]]


def test_what_is_overwritten_is_gone_from_base_files_too() -> None:
    steps = Insert((1, 2)), Delete((2,)), Upsert((1,)), Overwrite((1, 3))
    end = story(*steps, merge_on_read=True)[-1]
    assert shown(end) == shown(end, end.base) == [("1", "f2s4r1"), ("3", "f2s4r3")]
    assert {row.group for row in end.rows.values()} == {(4, ())}
    assert end.gone == {"2": 2}


def test_of_a_partition_the_other_ones_stay_as_they_are() -> None:
    first = Insert((1, 2, 3, 4)), Delete((2,))
    partition = Overwrite((3, 5), OverwriteScope.PARTITION)
    over = story(*first, partition, merge_on_read=True, **PARTED)[-1]
    assert {key: row.group[0] for key, row in over.rows.items()} == {"4": 1, "3": 3, "5": 3}
    assert [row[0] for row in shown(over, over.base)] == ["2", "4", "3", "5"]
    without = story(*first, DeletePartition(4), merge_on_read=True, **PARTED)[-1]
    assert shown(without) == shown(without, without.base)
    assert [row[0] for row in shown(without)] == ["1", "3"]
    assert without.gone == {"2": 2, "4": 3}
    with pytest.raises(SchemaChangeError, match="the rows are of several partitions"):
        story(*first, Overwrite((3, 4), OverwriteScope.PARTITION), **PARTED)


def test_a_partition_that_no_statement_can_name_is_not_dropped() -> None:
    end = story(Insert(rows=({"id": "1", "p": None},)), **PARTED)[-1]
    with pytest.raises(SchemaChangeError, match="the partition's value is NULL"):
        DeletePartition(1).sql(end, end)


def last(steps: str, mode: MergeMode | None = None, *, mor: bool = True) -> History:
    return history(steps, mor=mor, merge_mode=mode).history


def test_a_restored_table_is_as_it_was_at_the_savepoint() -> None:
    then = "insert 1..3; upsert 1; savepoint"
    last_step = last(f"{then}; upsert 2; delete 3; insert 4; compact; add f3 after f1; restore")
    saved, now = last_step[3], last_step[-1]
    assert (now.rows, now.base) == (saved.rows, saved.base)
    assert now.schema.fields == saved.schema.fields
    assert now.base != now.rows
    assert (now.step, now.undone) == (9, frozenset(range(4, 9)))


def test_ids_that_were_taken_back_are_not_given_again() -> None:
    last_step = last("insert 1; savepoint; add q; restore; add q; rename f1 g; rollback; add r")
    ids = [last_step[3].column_id("q"), last_step[5].column_id("q"), last_step[-1].column_id("r")]
    assert ids == sorted(set(ids))
    assert last_step[-1].column_id("f1") == last_step[0].column_id("f1")


def test_the_last_write_is_rolled_back_and_then_the_one_before() -> None:
    last_step = last("insert 1; upsert 1; rename f1 g; touch; rollback; rollback; rollback")
    assert [truth.rows for truth in last_step[5:]] == [truth.rows for truth in last_step[3:0:-1]]
    assert last_step[6].schema.names == last_step[2].schema.names
    assert [last_write(truth) for truth in last_step] == [0, 1, 2, 3, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("steps", "written"),
    [
        ("insert 1; upsert 1; compact", 3),
        ("insert 1; upsert 1; compact schedule", 2),
        ("insert 1; upsert 1; savepoint", 2),
    ],
)
def test_a_compaction_is_a_write_where_there_are_log_files(steps: str, written: int) -> None:
    assert last_write(last(steps)[-1]) == written


@pytest.mark.parametrize(
    ("before", "step", "message"),
    [
        ("compact", "savepoint", "nothing is written yet that could be saved"),
        ("insert 1", "restore", "there is no savepoint to go back to"),
        ("insert 1; savepoint", "savepoint", "nothing is written since the last savepoint"),
        ("insert 1; savepoint", "rollback", "the last write has a savepoint"),
        ("insert 1; savepoint; insert 2; restore", "rollback", "the last write has a savepoint"),
    ],
)
def test_what_cannot_be_taken_back_is_refused(before: str, step: str, message: str) -> None:
    with pytest.raises(SchemaChangeError, match=message):
        operation([step]).evolve(last(before)[-1])


def test_a_failed_write_changes_nothing_and_nobody_may_show_its_rows() -> None:
    before, after = last("insert 1..2; fail 2,3")[-2:]
    assert (after.rows, after.base, after.schema) == (before.rows, before.base, before.schema)
    assert [row.key for row in after.failed] == ["2", "3"]
    assert (dict(after.gone), after.undone) == ({"3": 2}, frozenset({2}))
    assert last_write(after) == 1


def test_the_rows_of_an_earlier_snapshot_come_back_under_the_columns_of_now() -> None:
    steps = "insert 1..3; delete 1; rename f1 g; upsert 2; insert 4; add q"
    then, now = (history_[-1] for history_ in (last("insert 1..3; delete 1"), last(steps)))
    back = rolled_back_to(now, now.step + 1, 2)
    assert (back.rows, back.schema) == (then.rows, now.schema)
    assert dict(back.gone) == {"1": 2, "4": 7}
    again = rolled_back_to(back, back.step + 1, 1)
    assert (set(again.rows), dict(again.gone)) == ({"1", "2", "3"}, {"4": 7})


@pytest.mark.parametrize(
    ("steps", "number", "message"),
    [
        ("insert 1; add q", 2, "step 2 wrote no rows that stand"),
        ("insert 1; insert 2; insert 3; rollback", 3, "step 3 wrote no rows that stand"),
        ("insert 1; insert 2; clean", 1, "step 3 cleaned the snapshot of step 1"),
    ],
)
def test_a_snapshot_that_is_not_there_cannot_be_gone_back_to(
    steps: str, number: int, message: str
) -> None:
    now = last(steps)[-1]
    with pytest.raises(SchemaChangeError, match=message):
        rolled_back_to(now, now.step + 1, number)


def steps_of(truth: Truth, key: str) -> dict[str, int]:
    """The step that wrote each column of a row."""
    written = truth.rows[key].written
    return {field.name: written[field.id] for field in truth.schema.fields if field.id in written}


def test_while_it_waits_the_table_is_as_it_was_and_nobody_may_show_its_rows() -> None:
    before, now = last("insert 1..2; begin update 1; commit")[1:3]
    assert (now.rows, now.base, now.schema) == (before.rows, before.base, before.schema)
    assert [row.key for row in now.failed] == ["1"]
    assert now.undone == frozenset({2})


@pytest.mark.parametrize("mor", [False, True])
@pytest.mark.parametrize(
    ("begun", "write"),
    [("insert 3", "insert 3"), ("update 1", "upsert 1"), ("delete 2", "delete 2")],
)
def test_with_nobody_else_it_ends_as_the_write_does(begun: str, write: str, *, mor: bool) -> None:
    alone = last(f"insert 1..2; {write}", mor=mor)[-1]
    waited = last(f"insert 1..2; begin {begun}; commit", mor=mor)[-1]
    assert shown(waited) == shown(alone)
    assert (waited.pending, waited.failed, waited.undone) == (None, (), frozenset())
    assert set(waited.gone) == set(alone.gone)


def test_rows_that_nobody_else_wrote_are_as_it_wrote_them() -> None:
    now = last("insert 1..4; begin update 1; upsert 3; commit")[-1]
    assert set(steps_of(now, "1").values()) == {2}
    assert set(steps_of(now, "3").values()) == {3}
    assert not now.sent_contested


@pytest.mark.parametrize(
    ("mode", "stands"), [(MergeMode.EVENT_TIME, 3), (MergeMode.COMMIT_TIME, 2)]
)
def test_of_a_row_that_both_wrote_the_merge_mode_tells_which_one_stands(
    mode: MergeMode, stands: int
) -> None:
    now = last("insert 1..2; begin update 1; upsert 1; commit", mode)[-1]
    assert set(steps_of(now, "1").values()) == {stands}
    assert list(now.sent_contested) == ["1"]


def test_both_writers_columns_stand_where_they_are_others() -> None:
    now = last("insert 1..2; begin update 1 f1; update 1 set f2; commit")[-1]
    assert steps_of(now, "1") == {"id": 1, "ts": 3, "f1": 2, "f2": 3}
    assert not now.sent_contested


def test_values_keep_their_fields_through_a_schema_change_of_the_other_writer() -> None:
    now = last("insert 1..2; begin update 1; rename f1 g; commit")[-1]
    assert steps_of(now, "1")["g"] == 2


def test_where_it_is_refused_the_other_writer_alone_stands() -> None:
    truth_history = history(
        "insert 1..2; begin update 1; upsert 2; commit", applied=[True, True, True, False]
    )
    now = truth_history.history[-1]
    assert set(steps_of(now, "1").values()) == {1}
    assert [row.key for row in now.failed] == ["1"]


def test_without_a_write_that_waits_there_is_nothing_to_commit() -> None:
    with pytest.raises(SchemaChangeError, match="no write waits for its commit"):
        operation(["commit"]).evolve(last("insert 1")[-1])
