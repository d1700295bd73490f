"""What takes a table back: the rows, base files, the schema, and the ids of its fields."""

from __future__ import annotations

import pytest

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, last_write, rolled_back_to
from tests.builders.table_story import history, operation


def last(steps: str, *, mor: bool = True) -> tuple[Truth, ...]:
    return history(steps, mor=mor).history


def test_a_restored_table_is_as_it_was_at_the_savepoint() -> None:
    then = "insert 1..3; upsert 1; savepoint"
    found = last(f"{then}; upsert 2; delete 3; insert 4; compact; add f3 after f1; restore")
    saved, now = found[3], found[-1]
    assert (now.rows, now.base) == (saved.rows, saved.base)
    assert now.schema.fields == saved.schema.fields
    assert now.base != now.rows
    assert (now.step, now.undone) == (9, frozenset(range(4, 9)))


def test_ids_that_were_taken_back_are_not_given_again() -> None:
    found = last("insert 1; savepoint; add q; restore; add q; rename f1 g; rollback; add r")
    ids = [found[3].column_id("q"), found[5].column_id("q"), found[-1].column_id("r")]
    assert ids == sorted(set(ids))
    assert found[-1].column_id("f1") == found[0].column_id("f1")


def test_the_last_write_is_rolled_back_and_then_the_one_before() -> None:
    found = last("insert 1; upsert 1; rename f1 g; touch; rollback; rollback; rollback")
    assert [truth.rows for truth in found[5:]] == [
        truth.rows for truth in (found[3], found[2], found[1])
    ]
    assert found[6].schema.names == found[2].schema.names
    assert [last_write(truth) for truth in found] == [0, 1, 2, 3, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("steps", "written"),
    [
        ("insert 1; upsert 1; compact", 3),
        ("insert 1; upsert 1; compact schedule", 2),
        ("insert 1; compact", 1),
        ("insert 1; upsert 1; savepoint", 2),
    ],
)
def test_a_compaction_is_a_write_where_there_are_log_files(steps: str, written: int) -> None:
    assert last_write(last(steps)[-1]) == written


@pytest.mark.parametrize(
    ("before", "step", "message"),
    [
        ("compact", "savepoint", "nothing is written yet that could be saved"),
        ("compact", "rollback", "nothing is written yet that could be rolled back"),
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
    then, now = (each[-1] for each in (last("insert 1..3; delete 1"), last(steps)))
    back = rolled_back_to(now, now.step + 1, 2)
    assert (back.rows, back.schema) == (then.rows, now.schema)
    assert dict(back.gone) == {"1": 2, "4": 7}
    again = rolled_back_to(back, back.step + 1, 1)
    assert (set(again.rows), dict(again.gone)) == ({"1", "2", "3"}, {"4": 7})


@pytest.mark.parametrize(
    ("steps", "number", "message"),
    [
        ("insert 1; add q", 2, "step 2 wrote no rows that stand"),
        ("insert 1", 0, "step 0 wrote no rows that stand"),
        ("insert 1; insert 2; clean", 1, "step 3 cleaned the snapshot of step 1"),
    ],
)
def test_a_snapshot_that_is_not_there_cannot_be_gone_back_to(
    steps: str, number: int, message: str
) -> None:
    now = last(steps)[-1]
    with pytest.raises(SchemaChangeError, match=message):
        rolled_back_to(now, now.step + 1, number)


def test_a_snapshot_that_was_taken_back_cannot_be_gone_back_to() -> None:
    now = last("insert 1; insert 2; insert 3")[-1]
    back = rolled_back_to(now, 4, 1)
    with pytest.raises(SchemaChangeError, match="step 3 wrote no rows that stand"):
        rolled_back_to(back, 5, 3)
