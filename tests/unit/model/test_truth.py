from __future__ import annotations

from typing import Any, Final

import pytest

from harness.model.schema import SchemaChangeError
from harness.model.table import MergeMode
from harness.model.truth import History, Rows, Truth, row_values
from harness.scenario.definition import Scenario
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

ORDERED: Final[dict[str, Any]] = {
    "columns": {"id": "string", "ts": "long", "f1": "string"},
    "order_by": "ts",
}


def story(*operations: Operation, merge_on_read: bool = False, **table: Any) -> History:  # noqa: ANN401 - passed on
    return told(scenario_of(*operations, **table), merge_on_read=merge_on_read)


def told(scenario: Scenario, *, merge_on_read: bool = False) -> History:
    return scenario.truths(merge_on_read=merge_on_read).history()


def shown(truth: Truth, rows: Rows | None = None) -> list[tuple[Any, ...]]:
    found = truth.rows if rows is None else rows
    return [row_values(row, truth.schema) for row in found.values()]


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
    parted: dict[str, Any] = {
        "columns": {"id": "string", "f1": "string", "p": "int"},
        "partition_by": ("p",),
    }
    first = Insert((1, 2, 3, 4)), Delete((2,))
    over = story(*first, Overwrite((3, 5), OverwriteScope.PARTITION), merge_on_read=True, **parted)[
        -1
    ]
    assert {key: row.group[0] for key, row in over.rows.items()} == {"4": 1, "3": 3, "5": 3}
    assert [row[0] for row in shown(over, over.base)] == ["2", "4", "3", "5"]
    without = story(*first, DeletePartition(4), merge_on_read=True, **parted)[-1]
    assert shown(without) == shown(without, without.base)
    assert [row[0] for row in shown(without)] == ["1", "3"]
    assert without.gone == {"2": 2, "4": 3}
    with pytest.raises(SchemaChangeError, match="the rows are of several partitions"):
        story(*first, Overwrite((3, 4), OverwriteScope.PARTITION), **parted)


def test_a_partition_that_no_statement_can_name_is_not_dropped() -> None:
    parted: dict[str, Any] = {
        "columns": {"id": "string", "f1": "string", "p": "string"},
        "partition_by": ("p",),
    }
    end = story(Insert(rows=({"id": "1", "p": None},)), **parted)[-1]
    with pytest.raises(SchemaChangeError, match="the partition's value is NULL"):
        DeletePartition(1).sql(end, end)
