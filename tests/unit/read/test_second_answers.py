"""A question asked again of a fresh server: alike or not, and what is kept for later runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core import jsonl
from harness.core.records import Answer, Column, Refusal
from harness.read.read_states import alike, second

FIRST = Answer(
    "c",
    "q",
    (Column("id", "string", "string"), Column("n", "int", "int")),
    (("1", 1), ("2", None)),
    seconds=1.0,
)
OTHER = replace(FIRST, rows=(("1", 1), ("2", 0)))


@pytest.mark.parametrize(
    "again",
    [
        replace(FIRST, seconds=2.0, sql="q2"),
        replace(FIRST, rows=FIRST.rows[::-1]),
        replace(FIRST, columns=FIRST.columns[::-1], rows=tuple(each[::-1] for each in FIRST.rows)),
    ],
    ids=["time", "order of rows", "order of columns"],
)
def test_answers_of_one_content_are_alike(again: Answer) -> None:
    assert alike(again, FIRST)
    assert second(again, FIRST) == replace(again, again=True)


@pytest.mark.parametrize(
    "again",
    [
        OTHER,
        replace(FIRST, rows=FIRST.rows[:1]),
        replace(FIRST, rows=(*FIRST.rows, FIRST.rows[0])),
        replace(FIRST, rows=(("1", 1.0), ("2", None))),
        replace(FIRST, columns=(FIRST.columns[0], Column("m", "int", "int"))),
        Answer("c", "q", refusal=Refusal("K", "m")),
    ],
    ids=["a value", "a row less", "a row twice", "a type", "a name", "a refusal"],
)
def test_another_answer_has_the_first_one_with_it_and_both_are_recorded(again: Answer) -> None:
    found = second(again, FIRST)
    assert (found.again, found.earlier) == (True, replace(FIRST, case="", sql=""))
    assert replace(found, again=False, earlier=None) == again
    assert jsonl.parse(Answer, jsonl.dump(found)) == found


def test_where_no_second_answer_came_the_first_one_stays_as_it_was() -> None:
    assert second(Answer("c", "q", unknown="it died"), FIRST) == FIRST


def test_a_record_from_before_second_answers_is_read_as_asked_once() -> None:
    plain = jsonl.dump(FIRST)
    assert "again" not in plain
    assert "earlier" not in plain
    assert jsonl.parse(Answer, plain) == FIRST
