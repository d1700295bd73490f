"""What a statement says by itself of a row, and what only seems so."""

from __future__ import annotations

import pytest

from harness.judge import file_contents
from harness.judge.file_contents import keeps
from harness.model.canonical import Value, text_of
from harness.model.schema import Field
from harness.scenario.operations.merge import Merge
from tests.builders.table_story import Story, history

COLUMNS = "id long, ts long, flag boolean, n int, f1 string"


def sql_of(story: Story, step: int) -> str:
    before, after = story.history[step - 1], story.history[step]
    return " ".join(story.operations[step - 1].sql(before, after))


def field(story: Story, name: str) -> Field:
    return story.truth.schema.find(name)


def says(story: Story, step: int, key: int, name: str, value: Value) -> bool:
    return file_contents.says(
        sql_of(story, step), (key, field(story, "id")), value, field(story, name)
    )


@pytest.mark.parametrize(
    "steps", ["insert 1..3", "upsert 1..3", "insert 9; merge update 9 delete 9 insert 1..3"]
)
def test_whole_rows_say_their_own_values_and_no_other_rows(steps: str) -> None:
    story = history(
        steps.replace("delete 9 ", "delete 8 ").replace("insert 9", "insert 8,9"), COLUMNS
    )
    step = len(story.operations)
    for key in (1, 2, 3):
        for name in ("flag", "n", "f1"):
            value = story.truth.rows[key].values[field(story, name).id]
            assert says(story, step, key, name, value)
            others = [story.truth.rows[k].values[field(story, name).id] for k in (1, 2, 3)]
            for other in others:
                assert says(story, step, key, name, other) is (text_of(other) == text_of(value))


def test_an_update_says_what_it_sets_and_nothing_of_other_columns() -> None:
    story = history("insert 1..3; update 1,2 set flag,n", COLUMNS)
    now = {key: story.truth.rows[key].values for key in (1, 2, 3)}
    at = field(story, "n").id
    assert says(story, 2, 1, "n", now[1][at])
    assert not says(story, 2, 1, "n", now[2][at])
    assert not says(story, 2, 3, "n", now[3][at])
    assert not says(story, 2, 1, "f1", now[1][field(story, "f1").id])


@pytest.mark.parametrize(("number", "wanted"), [(5, True), (-5, False), (15, False), (5.5, False)])
def test_a_number_in_another_one_is_not_it(number: float, *, wanted: bool) -> None:
    story = history("insert 1", COLUMNS)
    sql = f"select cast(1 as bigint) as `id`, {number} as `n`"
    assert file_contents.says(sql, (1, field(story, "id")), 5, field(story, "n")) is wanted


def test_a_statement_names_the_keys_that_it_deletes() -> None:
    story = history("insert 1,2,12; delete 1,12", COLUMNS)
    named = [
        key for key in (1, 2, 12) if file_contents.names(sql_of(story, 2), key, field(story, "id"))
    ]
    assert named == [1, 12]


@pytest.mark.parametrize("steps", ["update 1 set n", "merge"])
def test_an_update_leaves_the_columns_that_it_does_not_set(steps: str) -> None:
    story = history("insert 1..3; update 1 set n", COLUMNS)
    sql = sql_of(story, 2)
    if steps == "merge":
        (sql,) = Merge(update=(1,), set=("n",)).sql(story.history[1], story.history[2])
    key = field(story, "id")
    left = [each for each in ("flag", "n", "f1", "ts") if keeps(sql, (1, key), field(story, each))]
    assert left == ["flag", "f1"]
    assert not keeps(sql, (2, key), field(story, "f1"))


@pytest.mark.parametrize(
    "steps", ["insert 1..3", "insert 1; upsert 1", "insert 1,2; merge update 1 delete 2 insert 3"]
)
def test_whole_rows_leave_no_column(steps: str) -> None:
    story = history(steps, COLUMNS)
    sql = sql_of(story, len(story.operations))
    assert not keeps(sql, (1, field(story, "id")), field(story, "f1"))
