"""A write of a second writer: nothing of it while it waits, and both writers' rows in the end."""

from __future__ import annotations

import pytest

from harness.model.schema import SchemaChangeError
from harness.model.table import MergeMode
from harness.model.truth import Truth, row_values
from tests.builders.table_story import history, operation


def last(text: str, mode: MergeMode | None = None, *, mor: bool = False) -> tuple[Truth, ...]:
    return history(text, mor=mor, merge_mode=mode).history


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
@pytest.mark.parametrize("what", ["insert 3", "update 1", "delete 2", "update 1 f1"])
def test_with_nobody_else_it_ends_as_a_merge_does(what: str, *, mor: bool) -> None:
    merge = {
        "insert 3": "merge update 1 delete 2 insert 3",
        "update 1": "upsert 1",
        "delete 2": "delete 2",
        "update 1 f1": "update 1 set f1",
    }[what]
    alone = last(f"insert 1..2; {merge}", mor=mor)[-1]
    waited = last(f"insert 1..2; begin {what}; commit", mor=mor)[-1]
    for key, row in waited.rows.items():
        if key in alone.rows:
            shown = row_values(alone.rows[key], alone.schema)
            assert row_values(row, waited.schema) == shown or what == "insert 3"
    assert (waited.pending, waited.failed, waited.undone) == (None, (), frozenset())
    assert set(waited.gone) == set(alone.gone) - ({"2"} if what == "insert 3" else set())


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
    found = history(
        "insert 1..2; begin update 1; upsert 2; commit", applied=[True, True, True, False]
    )
    now = found.history[-1]
    assert set(steps_of(now, "1").values()) == {1}
    assert [row.key for row in now.failed] == ["1"]


def test_without_a_write_that_waits_there_is_nothing_to_commit() -> None:
    with pytest.raises(SchemaChangeError, match="no write waits for its commit"):
        operation(["commit"]).evolve(last("insert 1")[-1])
