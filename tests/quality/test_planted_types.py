"""Values that tell little of themselves, and values with parts: named only where it is certain."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.core.records import Column, FindingKind, Origin
from harness.model.canonical import MapValue
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import cells, changed, diagnosed, history, named, witness

BOOLEANS = "id string, ts long, b1 boolean, b2 boolean, f1 string"
PARTS = (
    "id string, ts long, s struct<a: string, b: int>, l array<string>, m map<string, long>, "
    "u struct<a: string, b: int>"
)


def test_swapped_booleans_are_told_by_their_pattern() -> None:
    story = history("insert 1..9; move b1 after b2", BOOLEANS)
    reply = story.read("position")
    found = named(story, reply)
    assert found.keys() == {"misaligned"}
    assert witness(story, reply, FindingKind.MISALIGNED, "1", "b2").origin == Origin(
        3, "b1", 1, "1"
    )


def test_four_rows_are_a_pattern() -> None:
    story = history("insert 1..4; move b1 after b2", BOOLEANS)
    assert named(story, story.read("position")).keys() == {"misaligned"}


def test_too_few_booleans_are_no_pattern() -> None:
    story = history("insert 1..3; move b1 after b2", BOOLEANS)
    assert named(story, story.read("position")).keys() == {"unexplained"}


def test_booleans_that_nobody_has_in_this_pattern_are_unexplained() -> None:
    story = history("insert 1..9", BOOLEANS)
    negated = changed(story.read(), {"b1": lambda v: None if v is None else not v})
    assert named(story, negated) == {"unexplained": cells(story, "b1")}
    constant = changed(story.read(), {"b1": lambda _: False})
    assert named(story, constant).keys() == {"unexplained"}


def test_a_constant_is_no_pattern_though_a_column_holds_just_that() -> None:
    columns = "id string, ts long, b1 boolean, n int, x boolean"
    story = history("insert 1..3; insert 4..7", columns)
    reply = story.read()
    rows = tuple((*row[:2], True, *row[3:]) if row[0] > "3" else row for row in reply.rows)
    assert [row[4] for row in rows] == [True] * 7
    assert named(story, Reply(reply.columns, rows)).keys() == {"unexplained"}


def test_stale_booleans_are_told_by_the_rest_of_their_row() -> None:
    story = history("insert 1..3; upsert 3", BOOLEANS, mor=True)
    assert named(story, story.read(logs="ignored")) == {"stale": cells(story, "ts b1 b2 f1", [3])}


def test_two_columns_with_one_pattern_leave_a_third_unexplained() -> None:
    columns = "id string, ts long, b1 boolean, n int, x boolean, b2 boolean"
    story = history("insert 1..4; drop n", columns)
    reply = story.read()
    assert all(b1 == b2 for _, _, b1, _, b2 in reply.rows)
    wrong = Reply(reply.columns, tuple((*row[:3], row[2], row[4]) for row in reply.rows))
    assert named(story, wrong).keys() == {"unexplained"}


def test_a_small_decimal_without_its_fraction_may_be_the_key_and_is_disputed() -> None:
    story = history("insert 1..6", "id string, ts long, c decimal(4, 2)")
    wrong = changed(story.read(), {"c": lambda v: v.quantize(Decimal(1))})
    assert named(story, wrong) == {"unexplained": cells(story, "c")}


def test_what_one_row_of_a_file_cannot_tell_the_others_do() -> None:
    story = history("insert 1,2; insert 3..5", "id string, c decimal(4, 2)")
    reply = story.read()
    rows = tuple((key, Decimal(key) if int(key) > 2 else c) for key, c in reply.rows)
    assert reply.rows[4] == ("5", None)  # 5 is no altered NULL, so it is the key's
    wrong = Reply(reply.columns, rows)
    assert named(story, wrong) == {"misaligned": cells(story, "c", [3, 4, 5])}


def test_an_added_child_is_null_and_a_renamed_one_is_missed_by_name() -> None:
    story = history("insert 1..3; add s.c string first; rename s.a a2; insert 4", PARTS)
    assert diagnosed(story, story.read("id")) == ()
    assert named(story, story.read("name")) == {"missing_rename": cells(story, "s.a2", [1, 2, 3])}


def test_a_renamed_struct_is_missed_with_all_its_parts() -> None:
    story = history("insert 1..3; rename s t", PARTS)
    assert named(story, story.read("name")) == {"missing_rename": cells(story, "t.a t.b")}


def test_a_child_that_was_dropped_comes_back() -> None:
    story = history("insert 1..3; drop s.a; add s.a", PARTS)
    assert named(story, story.read("name")) == {"resurrected": cells(story, "s.a")}


def test_children_read_by_position_are_misaligned() -> None:
    story = history("insert 1..3; move s.b first", "id string, s struct<a: string, b: string>")

    def by_position(value: dict[str, object]) -> dict[str, object]:
        return dict(zip(value, reversed(value.values()), strict=True))

    wrong = changed(story.read(), {"s": by_position})
    assert named(story, wrong) == {"misaligned": cells(story, "s.a s.b")}


def test_children_in_another_order_are_declared_so_and_drift() -> None:
    story = history("insert 1,2", PARTS)
    wrong = changed(story.read(), {"s": lambda v: dict(reversed(v.items()))})
    assert named(story, wrong) == {"type_drift": cells(story, "s")}


def test_the_children_of_an_earlier_step_are_stale() -> None:
    story = history("insert 1,2; rename s.a a2", PARTS)
    wrong = changed(story.read(), {"s": lambda v: {"a": v["a2"], "b": v["b"]}})
    assert named(story, wrong) == {"stale": cells(story, "s.a s.a2")}


def test_structs_read_by_position_are_misaligned_in_every_part_the_null_ones_too() -> None:
    columns = "id string, s struct<a: string, b: int>, u struct<a: string, b: int>"
    story = history("insert 1..5; move s after u", columns)
    whole = {("5", "s")}  # NULL, and found with parts
    expected = cells(story, "u.a u.b") | cells(story, "s.a s.b", [1, 2, 3, 4]) | whole
    found = named(story, story.read("position"))
    assert found.keys() == {"misaligned"}
    assert found["misaligned"] <= expected
    assert expected - found["misaligned"] <= {("5", "u.a"), ("5", "u.b")}


def test_a_struct_of_nulls_where_null_is_right_is_unexplained() -> None:
    story = history("insert 1..5", "id string, s struct<a: string>")
    wrong = changed(story.read(), {"s": lambda v: v or {"a": None}})
    assert named(story, wrong) == {"unexplained": {("5", "s")}}


def test_null_where_a_struct_of_nulls_is_right_is_lost() -> None:
    story = history("insert 1..5", "id string, n int, s struct<a: string>")
    wrong = changed(story.read(), {"s": lambda v: v if v["a"] else None})
    assert named(story, wrong) == {"lost_value": {("5", "s")}}


def test_an_array_without_its_last_element_is_unexplained_and_one_place() -> None:
    story = history("insert 1,2", PARTS)
    wrong = changed(story.read(), {"l": lambda v: v[:1]})
    assert named(story, wrong) == {"unexplained": cells(story, "l")}


def test_two_elements_that_came_as_one_text_are_unexplained() -> None:
    story = history("insert 1,2", PARTS)
    wrong = changed(story.read(), {"l": lambda v: (", ".join(v),)})
    assert named(story, wrong) == {"unexplained": cells(story, "l")}


def test_elements_in_another_order_are_unexplained() -> None:
    story = history("insert 1,2", PARTS)
    wrong = changed(story.read(), {"l": lambda v: tuple(reversed(v))})
    assert named(story, wrong) == {"unexplained": cells(story, "l[0] l[1]")}


def test_null_arrays_and_maps_are_lost_in_every_part_but_one_column() -> None:
    story = history("insert 1,2", PARTS)
    (finding,) = diagnosed(story, changed(story.read(), {"l": lambda _: None}))
    assert (finding.kind.value, finding.columns) == ("lost_value", ("l.element",))
    (finding,) = diagnosed(story, changed(story.read(), {"m": lambda _: None}))
    assert (finding.kind.value, finding.columns) == ("lost_value", ("m.value",))


def test_the_keys_of_a_map_count_with_their_type() -> None:
    story = history("insert 1,2", "id string, m map<int, string>")
    texts = changed(
        story.read(), {"m": lambda m: MapValue.of([(str(key), each) for key, each in m.pairs])}
    )
    assert named(story, texts) == {"type_drift": cells(story, "m")}


def test_the_order_of_a_map_does_not_count() -> None:
    story = history("insert 1,2", PARTS)
    again = changed(story.read(), {"m": lambda m: MapValue.of(list(reversed(m.pairs)))})
    assert diagnosed(story, again) == ()


def test_a_type_without_a_name_of_ours_is_another_type() -> None:
    story = history("insert 1,2", "id string, n int")
    reply = story.read()
    wrong = Reply((reply.columns[0], Column("n", "tinyint")), reply.rows)
    assert named(story, wrong) == {"type_drift": {("", "n")}}


def test_a_date_column_that_moved_by_a_day_is_told_from_dates_of_other_rows() -> None:
    story = history("insert 1..4", "id string, n long, day date")
    day = datetime.timedelta(days=1)
    wrong = changed(story.read(), {"day": lambda v: v + day})
    assert named(story, wrong) == {"altered_value": cells(story, "day")}
    reply = story.read()
    one = tuple((*r[:2], r[2] + day) if r[0] == "2" else r for r in reply.rows)
    assert named(story, Reply(reply.columns, one)) == {"unexplained": cells(story, "day", [2])}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("struct<a: string>", "{f5s1r2}"),
        ("struct<a: string, b: int>", "{f5s1r2, 601002}"),
        ("array<string>", "[f5s1r2, f5s1r502]"),
        ("map<string, int>", "{f5s1r2 -> 601002}"),
    ],
)
def test_a_dropped_column_with_parts_comes_back_as_its_text(kind: str, text: str) -> None:
    columns = f"id string, ts long, s {kind}, f1 string"
    story = history("insert 1,2; drop s; add s string after ts", columns)
    wrong = changed(story.read(), {"s": lambda _: text})
    reply = Reply(wrong.columns, (story.read().rows[0], wrong.rows[1]))
    assert named(story, reply) == {"resurrected": cells(story, "s", [2])}


def test_a_text_that_was_a_decimal_is_altered_without_its_zeros() -> None:
    story = history("insert 1; type d string", "id string, ts long, d decimal(9, 3)")
    assert story.read().rows == (("1", 201001, "301001.250"),)
    short = changed(story.read(), {"d": lambda _: "301001.25"})
    assert named(story, short) == {"altered_value": cells(story, "d")}
    raw = (301001250).to_bytes(4).decode(errors="replace")
    assert named(story, changed(story.read(), {"d": lambda _: raw})) == {
        "altered_value": cells(story, "d")
    }
