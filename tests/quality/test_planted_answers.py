"""Answers spoilt on the way: rows, labels, types and values; the order of things does not count."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from harness.core.records import Column, FindingKind, Origin
from harness.judge.difference import DifferenceKind
from harness.model.canonical import Value
from harness.model.conversion import cast_text
from tests.builders.judge_stages import differences
from tests.builders.simulated_reader import Reply, columns_of
from tests.builders.table_story import (
    Story,
    cells,
    changed,
    diagnosed,
    history,
    labelled,
    named,
    witness,
)

NUMBERS = "id string, ts long, n int, d double, c decimal(10, 2), day date, at timestamp, s string"


@pytest.fixture(scope="module")
def story() -> Story:
    return history("insert 1..6; rename f1 g; upsert 1,2")


@pytest.fixture(scope="module")
def numbers() -> Story:
    return history("insert 1..6; upsert 2", NUMBERS)


def test_other_orders_of_rows_and_columns_are_right(story: Story) -> None:
    reply = story.read()
    rows = tuple(tuple(reversed(row)) for row in reversed(reply.rows))
    assert diagnosed(story, Reply(tuple(reversed(reply.columns)), rows)) == ()


def test_a_row_answered_twice_is_a_duplicate_and_the_better_one_counts(story: Story) -> None:
    reply = story.read()
    stale = ("1", 201001, "f3s1r1", "f4s1r1")
    wrong = Reply(reply.columns, (stale, *reply.rows))
    assert named(story, wrong) == {"duplicate": {("1", "")}}


def test_duplicates_are_told_though_the_key_column_is_wrong(story: Story) -> None:
    reply = story.read()
    rows = (*reply.rows, reply.rows[3])
    keyless = changed(Reply(reply.columns, rows), {"id": lambda _: "?"})
    found = named(story, keyless)
    assert found["duplicate"] == {("4", "")}
    assert found["unexplained"] == cells(story, "id")


def test_rows_of_an_absent_file_are_lost(story: Story) -> None:
    reply = story.read()
    wrong = Reply(reply.columns, reply.rows[2:])
    lost = {(row[0], "") for row in reply.rows[:2]}
    assert named(story, wrong) == {"lost_row": lost}


def test_a_row_that_nobody_ever_wrote_is_unexplained(story: Story) -> None:
    reply = story.read()
    wrong = Reply(reply.columns, (*reply.rows, ("77", 1, "x", "y")))
    assert named(story, wrong) == {"unexplained": {("77", "")}}


def test_the_state_of_an_earlier_step_is_stale_lost_and_ghostly() -> None:
    story = history("insert 1..3; upsert 2; delete 3; insert 4")
    reply = history("insert 1..3").read()
    assert named(story, reply) == {
        "stale": cells(story, "ts f1 f2", [2]),
        "ghost_row": {("3", "")},
        "lost_row": {("4", "")},
    }


def test_a_whole_column_of_null_is_lost(story: Story) -> None:
    wrong = changed(story.read(), {"f2": lambda _: None})
    assert named(story, wrong) == {"lost_value": cells(story, "f2", [1, 2, 3, 4, 6])}


def test_null_where_the_file_has_todays_name_is_lost_and_not_a_missing_rename() -> None:
    story = history("insert 1..3; insert 4,5; rename f1 g; upsert 1")  # writes 2 and 3 again, too
    wrong = changed(story.read(), {"g": lambda _: None})
    assert named(story, wrong) == {
        "lost_value": cells(story, "g", [1, 2, 3]),
        "missing_rename": cells(story, "g", [4, 5]),
    }


def test_swapped_labels_are_misaligned(story: Story) -> None:
    assert named(story, labelled(story.read(), g="f2", f2="g")) == {
        "misaligned": cells(story, "g f2")
    }


def test_a_label_nobody_gave_is_unexplained(story: Story) -> None:
    wrong = labelled(story.read(), f2="_col3")
    assert named(story, wrong) == {"unexplained": {("", "f2"), ("", "_col3")}}


def test_the_columns_of_an_earlier_step_are_stale(story: Story) -> None:
    reply = story.read()
    wrong = Reply(columns_of(story.history[1].schema), reply.rows)
    assert named(story, wrong) == {"stale": {("", "g"), ("", "f1")}}
    seen = witness(story, wrong, FindingKind.STALE, "", "f1")
    assert seen.origin == Origin(3, "f1", 1, "")


def test_an_absent_column_is_not_stale_only_because_it_was_added_once(story: Story) -> None:
    reply = story.read()
    wrong = Reply(reply.columns[:2], tuple(row[:2] for row in reply.rows))
    assert named(story, wrong) == {"unexplained": {("", "g"), ("", "f2")}}


def test_a_column_answered_twice_is_a_duplicate(story: Story) -> None:
    reply = story.read()
    wrong = Reply((*reply.columns, reply.columns[2]), tuple((*row, row[2]) for row in reply.rows))
    assert named(story, wrong) == {"duplicate": {("", "g")}}


def test_a_column_answered_twice_is_no_second_time_wrong_by_its_type(story: Story) -> None:
    reply = story.read()
    columns = (*reply.columns, replace(reply.columns[2], canonical="int"))
    rows = tuple((*row, row[2]) for row in reply.rows)
    assert named(story, Reply(columns, rows)) == {"duplicate": {("", "g")}}
    both = Reply((*columns[:2], columns[4], *columns[3:]), rows)
    assert named(story, both) == {"duplicate": {("", "g")}}


def test_values_of_other_rows_are_unexplained_and_say_whose_they_are(story: Story) -> None:
    reply = story.read()
    values = [row[2] for row in reply.rows]
    moved = (*values[1:], values[0])
    rows = tuple((*r[:2], value, r[3]) for r, value in zip(reply.rows, moved, strict=True))
    wrong = Reply(reply.columns, rows)
    assert named(story, wrong) == {"unexplained": cells(story, "g")}
    origin = diagnosed(story, wrong)[0].witness.origin
    assert origin is not None
    assert (origin.field_id, origin.key) != (3, diagnosed(story, wrong)[0].witness.key)


@pytest.mark.parametrize(
    ("column", "spoil", "kind"),
    [
        ("n", str, "type_drift"),
        ("n", float, "type_drift"),
        ("d", str, "type_drift"),
        ("d", lambda v: f"{v}0", "type_drift"),
        ("c", lambda v: f"{v}0", "type_drift"),
        ("at", cast_text, "type_drift"),
        ("c", float, "type_drift"),
        ("c", lambda v: v.quantize(Decimal("0.0001")), "type_drift"),
        ("day", lambda v: datetime.datetime.combine(v, datetime.time()), "type_drift"),
        ("n", lambda v: v + 1, "altered_value"),
        ("d", int, "altered_value"),
        ("d", lambda v: v + 0.01, "altered_value"),
        ("c", lambda v: v.quantize(Decimal(1)), "altered_value"),
        ("c", lambda v: v.quantize(Decimal("0.1")), "altered_value"),
        ("at", lambda v: v + datetime.timedelta(hours=8), "altered_value"),
        ("at", lambda v: v - datetime.timedelta(hours=5, minutes=30), "altered_value"),
        ("at", lambda v: v.replace(microsecond=0), "altered_value"),
        ("at", lambda v: f"{cast_text(v)}0000001", "altered_value"),
        ("day", lambda v: v - datetime.timedelta(days=1), "altered_value"),
        ("day", lambda v: v + datetime.timedelta(days=1), "altered_value"),
        ("s", lambda v: v[:4], "altered_value"),
        ("s", lambda v: v.upper(), "altered_value"),
        ("s", lambda v: f"{v}  ", "altered_value"),
        ("n", lambda v: -v, "unexplained"),
        ("n", lambda _: 0, "unexplained"),
        ("s", lambda _: "", "unexplained"),
        ("s", lambda v: v[::-1], "unexplained"),
        ("day", lambda v: v + datetime.timedelta(days=400), "unexplained"),
    ],
)
def test_values_that_changed(numbers: Story, column: str, spoil: object, kind: str) -> None:
    def change(value: Value) -> Value:
        return None if value is None else spoil(value)  # type: ignore[operator]

    reply = numbers.read()
    at = reply.names.index(column)
    keys = [row[0] for row in reply.rows if row[at] is not None]
    if (column, kind) == ("n", "altered_value"):
        keys = [key for key in keys if key == "6"]
        reply = Reply(reply.columns, tuple(row for row in reply.rows if row[0] in keys))
        found = named(numbers, changed(reply, {column: change}))
        found.pop("lost_row")
    else:
        found = named(numbers, changed(reply, {column: change}))
    assert found == {kind: cells(numbers, column, keys)}


def test_a_number_one_off_that_is_the_next_row_s_value_is_not_an_altered_one(
    numbers: Story,
) -> None:
    reply = numbers.read()
    rows = tuple(row if row[0] != "3" else (*row[:2], 301004, *row[3:]) for row in reply.rows)
    assert named(numbers, Reply(reply.columns, rows)) == {"unexplained": {("3", "n")}}


def test_a_column_declared_with_another_type_drifts(numbers: Story) -> None:
    reply = numbers.read()
    columns = tuple(
        Column("n", "bigint", "long") if each.name == "n" else each for each in reply.columns
    )
    wrong = Reply(columns, reply.rows)
    assert named(numbers, wrong) == {"type_drift": {("", "n")}}
    seen = witness(numbers, wrong, FindingKind.TYPE_DRIFT, "", "n")
    assert (seen.expected, seen.found) == ("int", "long")


def test_the_text_null_is_not_the_absence_of_a_value() -> None:
    story = history("row id=1 f1=NULL f2=x")
    assert named(story, changed(story.read(), {"f1": lambda _: None})) == {
        "lost_value": cells(story, "f1")
    }
    story = history("insert 5")
    lost = changed(story.read(), {"f2": lambda _: None})
    assert named(story, lost) == {"lost_value": cells(story, "f2")}
    text = changed(story.read(), {"f2": lambda _: "NULL"})
    assert named(story, text) == {"unexplained": cells(story, "f2")}


def test_the_text_null_is_a_value_that_a_rename_or_a_drop_may_cost() -> None:
    renamed = history("row id=1 f1=NULL f2=x; rename f1 g")
    assert named(renamed, renamed.read("name")) == {"missing_rename": cells(renamed, "g")}
    again = history("row id=1 f1=NULL f2=x; drop f1; add f1")
    # It may as well be NULL that is shown as a text: what its column shows elsewhere tells.
    assert named(again, again.read("name")) == {"unexplained": cells(again, "f1")}
    both = history("""rows [{"id":"1","f1":"NULL"},{"id":"2","f1":"a"}]; drop f1; add f1""")
    assert named(both, both.read("name")) == {"resurrected": cells(both, "f1")}


def without_key(rows: Sequence[tuple[Value, ...]], key: str) -> tuple[tuple[Value, ...], ...]:
    return tuple((None, *row[1:]) if row[0] == key else row for row in rows)


@pytest.mark.parametrize("key", ["1", "NULL"])
def test_a_row_without_its_key_keeps_its_name_where_another_is_called_null(key: str) -> None:
    story = history("insert 1,2; row id=NULL f1=a f2=b")
    reply = story.read()
    wrong = Reply(reply.columns, without_key(reply.rows, key))
    assert named(story, wrong) == {"lost_value": {(key, "id")}}
    alone = Reply(reply.columns[:1], tuple(row[:1] for row in wrong.rows))
    found = differences(story.state(), alone.columns, alone.rows, ["id"])
    assert [(each.kind, each.key, each.column) for each in found] == [
        (DifferenceKind.CELL, key, "id")
    ]


def test_a_row_without_a_key_is_not_a_second_one_of_the_row_called_null() -> None:
    story = history("insert 1,2; row id=NULL f1=a f2=b")
    reply = story.read()
    more = Reply(reply.columns, (*reply.rows, (None, 7, "nobody's", "nobody's")))
    assert named(story, more) == {"unexplained": {("", "")}}
