"""What a statement says by itself of a row, and what only seems so."""

from __future__ import annotations

import pytest

from harness.judge import statement_evidence
from harness.judge.statement_evidence import keeps
from harness.model.canonical import Value, text_of
from harness.model.schema import Field
from harness.scenario.operations.merge import Merge
from tests.quality.notation import Told, history

COLUMNS = "id long, ts long, flag boolean, n int, f1 string"


def sql_of(told: Told, step: int) -> str:
    before, after = told.history[step - 1], told.history[step]
    return " ".join(told.operations[step - 1].sql(before, after))


def field(told: Told, name: str) -> Field:
    return told.truth.schema.find(name)


def says(told: Told, step: int, key: int, name: str, value: Value) -> bool:
    return statement_evidence.says(
        sql_of(told, step), (key, field(told, "id")), value, field(told, name)
    )


@pytest.mark.parametrize(
    "steps", ["insert 1..3", "upsert 1..3", "insert 9; merge update 9 delete 9 insert 1..3"]
)
def test_whole_rows_say_their_own_values_and_no_other_rows(steps: str) -> None:
    told = history(
        steps.replace("delete 9 ", "delete 8 ").replace("insert 9", "insert 8,9"), COLUMNS
    )
    step = len(told.operations)
    for key in (1, 2, 3):
        for name in ("flag", "n", "f1"):
            value = told.truth.rows[key].values[field(told, name).id]
            assert says(told, step, key, name, value)
            others = [told.truth.rows[k].values[field(told, name).id] for k in (1, 2, 3)]
            for other in others:
                assert says(told, step, key, name, other) is (text_of(other) == text_of(value))


def test_an_update_says_what_it_sets_and_nothing_of_other_columns() -> None:
    told = history("insert 1..3; update 1,2 set flag,n", COLUMNS)
    now = {key: told.truth.rows[key].values for key in (1, 2, 3)}
    at = field(told, "n").id
    assert says(told, 2, 1, "n", now[1][at])
    assert not says(told, 2, 1, "n", now[2][at])
    assert not says(told, 2, 3, "n", now[3][at])
    assert not says(told, 2, 1, "f1", now[1][field(told, "f1").id])


@pytest.mark.parametrize(("number", "wanted"), [(5, True), (-5, False), (15, False), (5.5, False)])
def test_a_number_in_another_one_is_not_it(number: float, *, wanted: bool) -> None:
    told = history("insert 1", COLUMNS)
    sql = f"select cast(1 as bigint) as `id`, {number} as `n`"
    assert statement_evidence.says(sql, (1, field(told, "id")), 5, field(told, "n")) is wanted


def test_a_statement_names_the_keys_that_it_deletes() -> None:
    told = history("insert 1,2,12; delete 1,12", COLUMNS)
    named = [
        key
        for key in (1, 2, 12)
        if statement_evidence.names(sql_of(told, 2), key, field(told, "id"))
    ]
    assert named == [1, 12]


@pytest.mark.parametrize("steps", ["update 1 set n", "merge"])
def test_an_update_leaves_the_columns_that_it_does_not_set(steps: str) -> None:
    told = history("insert 1..3; update 1 set n", COLUMNS)
    sql = sql_of(told, 2)
    if steps == "merge":
        (sql,) = Merge(update=(1,), set=("n",)).sql(told.history[1], told.history[2])
    key = field(told, "id")
    left = [each for each in ("flag", "n", "f1", "ts") if keeps(sql, (1, key), field(told, each))]
    assert left == ["flag", "f1"]
    assert not keeps(sql, (2, key), field(told, "f1"))


@pytest.mark.parametrize(
    "steps", ["insert 1..3", "insert 1; upsert 1", "insert 1,2; merge update 1 delete 2 insert 3"]
)
def test_whole_rows_leave_no_column(steps: str) -> None:
    told = history(steps, COLUMNS)
    sql = sql_of(told, len(told.operations))
    assert not keeps(sql, (1, field(told, "id")), field(told, "f1"))
