"""Which questions there are about a column, and the value that a predicate asks for."""

from __future__ import annotations

import pytest

from harness.model import query_shapes
from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, Query
from harness.model.query_shapes import NoQuestionError, Shape
from harness.model.truth import row_values
from tests.builders.table_story import Story, history

COLUMN_SHAPES = ("all", "column", "predicate", "dereference", "count", "partition")
NESTED = "id string, ts long, a struct<city: string, zip: struct<no: int, ext: string>>, f1 string"


def planned(story: Story, step: int | None = None) -> list[str]:
    past = story.history if step is None else story.history[: step + 1]
    return [text for shape in COLUMN_SHAPES for text in query_shapes.planned(shape, past)]


def test_a_renamed_column_is_asked_for_under_its_name_of_today() -> None:
    story = history("insert 1,2; rename f1 g; insert 3; rename g h")
    assert planned(story, 2) == ["all", "column(g)", "predicate(g)", "count(g)"]
    assert planned(story) == ["all", "column(h)", "predicate(h)", "count(h)"]


@pytest.mark.parametrize(
    ("steps", "paths"),
    [
        ("insert 1; add n int after id; rename f2 g", ("g", "n")),
        ("insert 1; type f1 string; rename f1 g; drop g", ("f2",)),
        ("insert 1; add f3 string; drop f1", ("f2", "f3")),
        ("insert 1; add f3 string; move f3 after ts", ("f3",)),
        ("insert 1; add f3 string; drop f3", ()),
    ],
)
def test_evolved_columns_are_live_ones_and_the_newest_comes_first(
    steps: str, paths: tuple[str, ...]
) -> None:
    assert query_shapes.evolved(history(steps).history) == paths


@pytest.mark.parametrize(
    ("steps", "paths"),
    [
        ("insert 1; rename a.city town", ("a.town",)),
        ("insert 1; rename a.zip.no num; rename a b", ("b", "b.zip.num")),
        ("insert 1; drop a.city", ("a.zip",)),
        ("insert 1; add a.x int first", ("a.x",)),
    ],
)
def test_a_changed_part_of_a_struct_is_the_part_and_not_the_struct(
    steps: str, paths: tuple[str, ...]
) -> None:
    assert query_shapes.evolved(history(steps, NESTED).history) == paths


def test_a_struct_is_reached_into_wherever_there_is_one() -> None:
    assert planned(history("insert 1", NESTED)) == ["all", "dereference(a.city)"]
    story = history("insert 1; rename a.zip.no num", NESTED)
    assert planned(story) == [
        *("all", "column(a)", "predicate(a.zip.num)"),
        *("dereference(a.zip.num)", "count(a.zip.num)"),
    ]


def test_partition_columns_are_asked_for_where_there_are_rows() -> None:
    columns = "id string, ts long, p string, f1 string, q int"
    story = history("rename f1 g; insert 1..4", columns, partition_by=("p", "q"))
    asked_for = [f"partition({column})" for column in ("p", "p,2", "q", "q,2")]
    assert planned(story)[-4:] == asked_for
    assert not query_shapes.planned("partition", story.history[:2])


def asked(text: str, story: Story) -> Query:
    return query_shapes.query(text, story.truth)


def test_a_predicate_asks_for_the_value_in_the_oldest_file_that_nobody_rewrote() -> None:
    story = history("insert 1,2; insert 3,4; rename f1 g; upsert 2")
    where = asked("predicate(g)", story).where
    assert where == Condition("g", Comparison.EQUAL, "f3s2r3", "string")
    assert asked("count(g)", story) == Query(where=where, count=True)


def test_a_column_that_no_row_has_a_value_of_is_asked_for_nulls() -> None:
    story = history("insert 1,2; add n int after ts")
    assert asked("predicate(n)", story).where == Condition("n", Comparison.NULL)


@pytest.mark.parametrize("type_", ["binary", "array<int>", "map<string, int>"])
def test_a_type_without_a_common_literal_is_asked_for_values(type_: str) -> None:
    story = history("insert 1,2", f"id string, ts long, f {type_}")
    assert asked("predicate(f)", story).where == Condition("f", Comparison.NOT_NULL)


@pytest.mark.parametrize(
    "type_",
    [
        *("boolean", "int", "long", "float", "double", "string", "date", "decimal(12, 2)"),
        *("tinyint", "smallint", "timestamp", "timestamp_ntz", "char(20)", "varchar(20)"),
    ],
)
def test_the_value_of_a_predicate_is_that_of_a_row_whatever_its_type(type_: str) -> None:
    story = history("insert 1..4", f"id string, ts long, f {type_}")
    where = asked("predicate(f)", story).where
    assert where is not None
    assert (where.test, where.type) == (Comparison.EQUAL, type_)
    assert [row for row in story.truth.rows.values() if where.holds(row.values[3])]


def test_a_column_that_a_refused_step_left_out_cannot_be_asked_for() -> None:
    story = history("insert 1; rename f1 g", applied=[True, False])
    with pytest.raises(NoQuestionError, match="there is no column 'g'; there are: id, ts, f1, f2"):
        asked("column(g)", story)


@pytest.mark.parametrize("name", ["it's", "a(b)", "a b", "ü", "x)"])
def test_a_text_is_read_back_whatever_the_column_is_called(name: str) -> None:
    assert query_shapes.parse(f"column({name})") == (Shape.COLUMN, name)


@pytest.mark.parametrize(
    "text", ["", "column", "all(f1)", "count_all(f1)", "every(f1)", "column(f1"]
)
def test_a_text_that_is_none_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a query; allowed: all, column"):
        query_shapes.parse(text)


def test_each_partition_is_asked_for_by_its_number_and_one_that_is_not_there_is_not() -> None:
    columns = "id string, ts long, p string, f1 string"
    story = history("insert 1..4", columns, partition_by=("p",))
    texts = "partition(p)", "partition(p,2)"
    rows = [asked(text, story).answer(*_whole(story)) for text in texts]
    assert sorted(row[0] for part in rows for row in part) == ["1", "2", "3", "4"]
    assert all(rows)
    with pytest.raises(NoQuestionError, match="p has 2 values"):
        asked("partition(p,3)", story)


def _whole(story: Story) -> tuple[tuple[str, ...], list[tuple[Value, ...]]]:
    schema = story.truth.schema
    return schema.names, [row_values(row, schema) for row in story.truth.rows.values()]


def test_an_unchanged_column_is_one_that_no_schema_change_concerned_or_the_key() -> None:
    story = history("insert 1,2; rename f1 g")
    assert query_shapes.planned("unchanged", story.history) == ("unchanged(f2)",)
    assert asked("unchanged(f2)", story).where == asked("predicate(f2)", story).where
    both = history("insert 1,2; rename f1 g; rename f2 h")
    assert query_shapes.planned("unchanged", both.history) == ("unchanged(id)",)


def test_both_conditions_are_of_one_row_also_where_the_oldest_has_no_value_in_one() -> None:
    story = history(
        "insert 1..3; insert 5; rename f2 g; insert 4", "id string, ts long, f1 string, f2 string"
    )
    late = history("insert 1,2; add f3 string after ts; insert 3,4")
    for each, text in ((story, "both(g,f1)"), (late, "both(f3,f1)")):
        assert query_shapes.planned("both", each.history) == (text,)
        assert len(asked(text, each).answer(*_whole(each))) == 1


def test_nulls_are_asked_for_where_they_stand_beside_values() -> None:
    story = history("insert 1..5; rename f2 g")
    assert query_shapes.planned("null", story.history) == ("null(g)",)
    assert [row[0] for row in asked("null(g)", story).answer(*_whole(story))] == ["5"]
    none = history("insert 1..4; rename f2 g")
    assert not query_shapes.planned("null", none.history)


def test_a_range_leaves_out_the_older_half_of_the_times() -> None:
    story = history("insert 1..4", "id string, ts long, t timestamp, d date")
    assert query_shapes.planned("range", story.history) == ("range(t)",)
    taken = asked("range(t)", story).answer(*_whole(story))
    assert 0 < len(taken) < len(story.truth.rows)
    assert not query_shapes.planned("range", history("insert 1..4").history)


def test_the_least_and_the_greatest_value_are_asked_for_where_there_is_one_order() -> None:
    story = history("insert 1..4; rename f1 g")
    assert query_shapes.planned("min", story.history) == ("min(g)",)
    assert asked("min(g)", story).answer(*_whole(story)) == [("f3s1r1",)]
    assert asked("max(g)", story).answer(*_whole(story)) == [("f3s1r4",)]
    doubles = history("insert 1; rename f1 g", "id string, ts long, f1 double")
    assert not query_shapes.planned("max", doubles.history)


def test_a_time_that_is_finer_than_some_engines_keep_is_no_literal() -> None:
    columns = "id string, ts long, t timestamp"
    story = history("row id=1 ts=7 t=2024-01-01T00:00:00.123456", columns)
    assert asked("predicate(t)", story).where == Condition("t", Comparison.NOT_NULL)
