"""Which questions there are about a column, and the value that a predicate asks for."""

from contextlib import suppress

import pytest

from harness.model import condition_text, query_shapes
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
    for planted, text in ((story, "both(g,f1)"), (late, "both(f3,f1)")):
        assert query_shapes.planned("both", planted.history) == (text,)
        assert len(asked(text, planted).answer(*_whole(planted))) == 1


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


COLUMNS = "id string, ts long, f1 string, n int, d double, t timestamp"
WIDE = (
    "insert 1,2; row id=3 ts=7 f1=abc n=5 d=-0.0 t=2024-01-01T00:00:00.123456; rename f1 g; "
    "type n long; insert 4"
)


@pytest.mark.parametrize(
    ("text", "test", "literals"),
    [
        ("where(g = old)", Comparison.EQUAL, ("f3s1r1",)),
        ("where(g = new)", Comparison.EQUAL, ("f3s5r3",)),
        ('where(g not in "x", null)', Comparison.NOT_IN, ("x", None)),
        ("where(g starts with old)", Comparison.STARTS_WITH, ("f3s1r",)),
        ("where(n between 1, 3000000000)", Comparison.BETWEEN, ("1", "3000000000")),
        ("where(d < 0)", Comparison.LESS, ("0.0",)),
        ("where(d is nan)", Comparison.NAN, ()),
        ("where(t = fine)", Comparison.EQUAL, ("2024-01-01 00:00:00.123456",)),
        ('where(t >= "2024-01-01")', Comparison.AT_LEAST, ("2024-01-01 00:00:00",)),
        ("where(g is not null)", Comparison.NOT_NULL, ()),
    ],
)
def test_a_condition_is_asked_as_it_is_written(
    text: str, test: Comparison, literals: tuple[str | None, ...]
) -> None:
    story = history(WIDE, COLUMNS)
    where = asked(text, story).where
    assert where is not None
    assert (where.test, where.literals) == (test, literals)
    assert asked(f"count_{text}", story) == Query(where=where, count=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("where(x = 5)", "there is no column 'x'"),
        ("where(n = 5.5)", "'5.5' has no exact form as long"),
        ("where(n starts with 5)", "only string and varchar have a beginning"),
        ("where(g is nan)", "only float and double have NaN"),
        ('where(g starts with "a%")', "in their own ways in a beginning"),
        ("where(g = fine)", "g has no value 'fine'"),
        ("where(nan > 5)", "the place of NaN in the order"),
        ("where(g > 5)", ""),
    ],
)
def test_a_condition_that_engines_do_not_share_is_not_asked(text: str, why: str) -> None:
    story = history(f"{WIDE}; add nan double; row id=9 ts=8 nan=nan", COLUMNS)
    if why:
        with pytest.raises(NoQuestionError, match=why):
            asked(text, story)
    else:
        assert asked(text, story).where


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("where(g)", "'g' is not a condition; write a column, a sign and values"),
        (
            "where(g = x)",
            "'x' is not a value; allowed: a number, true, false, null, old, new, fine",
        ),
        ("where(g between 1)", "'between' has 2 values; given: 1"),
        ("where(g is null 1)", "'is null' has 0 values; given: 1"),
        ("where(g = null)", "null can stand in a list alone, and not first"),
        ("where(g in 1,)", "ends with a comma"),
        ("limit(0)", "a limit is a number from 1 to 999999"),
        ("where", "there is no 'where'; allowed: all, column"),
        ("predicate(f1)", "there is no 'predicate(f1)'; allowed: all, column"),
    ],
)
def test_what_is_no_condition_is_reported(text: str, why: str) -> None:
    assert why in query_shapes.why_no_shape(text)


@pytest.mark.parametrize("path", ["f1", "a.b", "a b", 'say "x"', "f,1", "f)(", "is", "in x"])
def test_a_condition_is_read_back_whatever_the_column_is_called(path: str) -> None:
    written = condition_text.ConditionText(
        path, Comparison.IN, (condition_text.ColumnWord("old"), 5, "a")
    )
    assert condition_text.parse(str(written)) == written
    assert query_shapes.parse(f"where({written})") == (Shape.WHERE, str(written))


def test_a_condition_without_a_column_is_on_each_that_was_touched() -> None:
    story = history(WIDE, COLUMNS)
    assert query_shapes.planned("where(not = old)", story.history) == (
        *("where(n not = old)", "where(g not = old)"),
    )
    assert query_shapes.planned("where(zip = 5)", story.history) == ()
    assert query_shapes.planned("limit(3)", story.history) == ("limit(3)",)
    assert query_shapes.shape_of("where(n not = old)") == "where(not = old)"
    assert query_shapes.shape_of("count_where(n in 1, null)") == "count_where(in 1, null)"


def test_what_is_asked_of_a_column_follows_from_what_became_of_it() -> None:
    story = history(WIDE, COLUMNS)
    assert query_shapes.planned("story", story.history) == (
        *("where(n is null)", "where(n = old)", "where(n = new)", "where(n not = old)"),
        *("where(n in old, new)", "where(n < 2147483648)", "where(n >= 2147483648)"),
        *("count_where(n is not null)", "alone(n)"),
        *("where(g is null)", "where(g = old)", "where(g = new)", "where(g not = old)"),
        *("where(g in old, new)", "where(g starts with old)"),
        *("count_where(g is not null)", "alone(g)", "count_all"),
    )
    floats = history("insert 1; rename d e", COLUMNS)
    assert {"where(e is nan)", "where(e = 0.0)", "where(e < 0.0)"} < {
        *query_shapes.planned("story", floats.history)
    }
    times = history(f"{WIDE}; rename t u", COLUMNS)
    assert "where(u = fine)" in query_shapes.planned("story", times.history)
    parts = history("insert 1; rename a.city town", "id string, ts long, a struct<city: string>")
    assert "where(a is null)" in query_shapes.planned("story", parts.history)
    assert query_shapes.planned("story", history("insert 1").history) == ()


@pytest.mark.parametrize(
    ("old", "new", "beyond"),
    [
        ("int", "long", "2147483648"),
        ("float", "double", "1E+39"),
        ("decimal(5, 2)", "decimal(9, 2)", "1000"),
        ("int", "string", ""),
        ("date", "timestamp", ""),
    ],
)
def test_a_widened_column_is_asked_beyond_what_the_old_type_holds(
    old: str, new: str, beyond: str
) -> None:
    story = history(f"insert 1; type f1 {new}; insert 2", f"id string, ts long, f1 {old}")
    texts = query_shapes.planned("story", story.history)
    assert (f"where(f1 >= {beyond})" in texts) is bool(beyond)
    for text in texts:
        with suppress(NoQuestionError):
            asked(text, story)
