"""Places: what differs, where, and that nothing is tolerated."""

from __future__ import annotations

import math

import pytest

from harness.core.records import Column
from harness.judge.difference import DifferenceKind
from harness.judge.table_comparison import wrong_columns
from tests.builders.judge_stages import differences, wrong_rows
from tests.builders.simulated_reader import Reply, columns_of
from tests.builders.table_story import history, places

TOLD = history("insert 1..3; rename f1 g", "id long, f1 double, s struct<a: string, b: int>")


def test_the_right_answer_has_no_places() -> None:
    assert places(TOLD, TOLD.read()) == ()


@pytest.mark.parametrize(
    "found", [301001, "301001.5", 301001.25, math.nan, math.inf, True, -301001.5]
)
def test_a_number_is_the_same_or_it_is_a_place(found: object) -> None:
    reply = TOLD.read()
    rows = ((1, found, reply.rows[0][2]), *reply.rows[1:])
    (place,) = places(TOLD, Reply(reply.columns, rows))
    assert (place.kind, place.key, place.column) == (DifferenceKind.CELL, "1", "g")


def test_places_tell_the_part_of_a_struct() -> None:
    reply = TOLD.read()
    rows = tuple((row[0], row[1], {**row[2], "b": 0}) for row in reply.rows)
    assert [each.column for each in places(TOLD, Reply(reply.columns, rows))] == ["s.b"] * 3


def test_cells_come_before_rows_and_rows_before_columns() -> None:
    reply = TOLD.read()
    columns = (*reply.columns, Column("more", "int", "int"))
    rows = ((1, 0.0, reply.rows[0][2], 1), (*reply.rows[1], 1), (*reply.rows[1], 1))
    found = [each.kind for each in places(TOLD, Reply(columns, rows))]
    assert found == [
        DifferenceKind.CELL,
        DifferenceKind.SECOND_ROW,
        DifferenceKind.ABSENT_ROW,
        DifferenceKind.EXTRA_COLUMN,
    ]


def test_only_the_columns_that_were_asked_are_absent() -> None:
    reply = TOLD.read()
    found = differences(
        TOLD.state(), reply.columns[:2], [row[:2] for row in reply.rows], ["id", "g"]
    )
    assert found == ()
    (place,) = wrong_columns(TOLD.state(), reply.columns[:2], ["id", "g", "s"])
    assert (place.kind, place.column) == (DifferenceKind.ABSENT_COLUMN, "s")


def test_a_column_that_the_schema_does_not_have_is_one_too_many_even_when_asked() -> None:
    column = Column("f1", "double", "double")
    (place,) = wrong_columns(TOLD.state(), [*TOLD.read().columns, column], ["id", "g", "s", "f1"])
    assert (place.kind, place.column, place.origin) == (DifferenceKind.EXTRA_COLUMN, "f1", None)


def test_names_count_in_their_case() -> None:
    columns = columns_of(TOLD.history[1].schema)
    upper = (columns[0], Column("G", "double", "double"), columns[2])
    found = {each.kind for each in wrong_columns(TOLD.state(), upper, ["id", "g", "s"])}
    assert found == {DifferenceKind.ABSENT_COLUMN, DifferenceKind.EXTRA_COLUMN}


def test_an_answer_without_any_row_lost_them_all() -> None:
    found = wrong_rows(TOLD.state(), TOLD.read().columns, ())
    assert [(each.kind, each.key) for each in found] == [
        (DifferenceKind.ABSENT_ROW, key) for key in ("1", "2", "3")
    ]
