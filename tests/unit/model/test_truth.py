from __future__ import annotations

from typing import Any

from harness.model.truth import History, Rows, Truth, row_values
from harness.scenario import expected_history
from harness.scenario.definition import Scenario
from harness.scenario.operations.add_column import AddColumn
from harness.scenario.operations.api import Operation
from harness.scenario.operations.change_type import ChangeType
from harness.scenario.operations.compact import Compact
from harness.scenario.operations.delete import Delete
from harness.scenario.operations.drop_column import DropColumn
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.rename_column import RenameColumn
from harness.scenario.operations.touch import Rewrites, Touch
from harness.scenario.operations.update import Update
from harness.scenario.operations.upsert import Upsert
from tests.unit.scenario.stories import TEXT, scenario_of


def story(*operations: Operation, merge_on_read: bool = False, **table: Any) -> History:  # noqa: ANN401 - passed on
    return told(scenario_of(*operations, **table), merge_on_read=merge_on_read)


def told(scenario: Scenario, *, merge_on_read: bool = False) -> History:
    done = [True] * len(scenario.steps)
    return expected_history.history(scenario, merge_on_read=merge_on_read, applied=done)


def shown(truth: Truth, rows: Rows | None = None) -> list[tuple[Any, ...]]:
    found = truth.rows if rows is None else rows
    return [row_values(row, truth.schema) for row in found.values()]


def test_an_old_row_has_no_value_in_an_added_column_and_keeps_those_of_a_renamed_one() -> None:
    end = story(Insert((1,)), AddColumn("f2", TEXT), RenameColumn("f1", "g"), Insert((2,)))[-1]
    assert end.schema.names == ("id", "g", "f2")
    assert shown(end) == [("1", "f2s1r1", None), ("2", "f2s4r2", "f3s4r2")]


def test_the_values_of_a_dropped_column_do_not_come_back_with_its_name() -> None:
    end = story(Insert((1,)), DropColumn("f1"), AddColumn("f1", TEXT))[-1]
    assert shown(end) == [("1", None)]


def test_a_value_is_shown_in_the_type_its_column_has_now() -> None:
    columns = {"id": "string", "n": "int"}
    history = story(Insert((1,)), ChangeType("n", TEXT), columns=columns)
    assert [shown(truth) for truth in history[1:]] == [[("1", 201001)], [("1", "201001")]]


def test_read_optimized_sees_inserts_at_once_and_later_changes_after_compaction() -> None:
    history = story(
        Insert((1, 2, 3)), Update((1,), ("f1",)), Delete((2,)), Compact(), merge_on_read=True
    )
    old = [("1", "f2s1r1"), ("2", "f2s1r2"), ("3", "f2s1r3")]
    assert [shown(truth, truth.base) for truth in history[1:4]] == [old, old, old]
    new = [("1", "f2s2r1"), ("3", "f2s1r3")]
    assert shown(history[3]) == shown(history[4], history[4].base) == new


def test_a_deleted_key_is_remembered_until_it_is_written_again() -> None:
    history = story(Insert((1, 2)), Delete((2,)), Insert((2,)))
    assert [dict(truth.gone) for truth in history] == [{}, {}, {"2": 2}, {}]


def test_an_update_writes_the_named_columns_and_the_ordering_one() -> None:
    columns = {"id": "string", "ts": "long", "f1": "string", "f2": "string"}
    end = story(Insert((1,)), Update((1,), ("f2",)), columns=columns, order_by="ts")[-1]
    assert shown(end) == [("1", 202001, "f3s1r1", "f4s2r1")]


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
