"""Which ways give an answer: the smallest ones, and all where several do."""

import datetime

import pytest

from harness.model.canonical import MapValue, Value
from harness.model.query import ALL, Comparison, Condition, Query
from harness.model.simulation.reader import Readings, Simulation, table_of
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from tests.builders.conditions import not_null
from tests.builders.simulated_disk import instant_of
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

STEPS = {instant_of(step): step for step in range(20)}


def readings(story: Story) -> Readings:
    facts = [file.fact() for file in story.disk.files]
    return Readings(Simulation(story.history, facts, STEPS))


def fitting(story: Story, reply: Reply, query: Query = ALL) -> list[str]:
    return list(map(str, readings(story).fitting(query, reply.names, reply.rows)))


def test_an_answer_of_an_older_catalog_names_the_step_whose_schema_it_is() -> None:
    story = "insert 1,2; move f1 after f2; upsert 1"
    # The order of columns is nothing to a reader by id or by name: the move made no other catalog.
    assert fitting(history(f"{story}; drop f2"), history(story).read()) == [
        "by id, catalog of step 0",
        "by name, catalog of step 0",
        "by position, catalog of step 2",
    ]


def test_base_files_by_id_with_log_files_by_name_are_named_together_and_so_the_other_way() -> None:
    story = history("insert 1,2; upsert 1; add f3 after ts; rename f1 g", mor=True)
    for by, logs_by in (("id", "name"), ("name", "id")):
        reply = story.read(by, logs_by=logs_by)
        assert fitting(story, reply) == [f"by {by}, log files by {logs_by}"]


def test_where_rows_by_id_and_log_files_by_name_give_what_position_gives_none_is_claimed() -> None:
    # Two columns of a fault's swap their names while old values are in log files.
    swap = "rename f1 t; rename f2 f1; rename t f2"
    columns = "id string, ts long, f1 string, f2 string, f3 string"
    story = history(f"insert 1,2; update 1 set f1,f2; {swap}", columns, mor=True)
    reply = story.read("id", logs_by="name")
    assert fitting(story, reply) == ["by position", "by id, log files by name"]


def test_what_a_smaller_way_gives_is_not_named_by_a_larger_one() -> None:
    story = history("insert 1,2; upsert 1; compact; upsert 1; delete 2", mor=True)
    assert fitting(story, story.read("id", logs="undeleted")) == [
        "by id, deletes ignored", "by name, deletes ignored", "by position, deletes ignored",
    ]  # fmt: skip


def test_an_answer_that_no_way_gives_names_none() -> None:
    story = history("insert 1,2")
    reply = story.read()
    assert fitting(story, Reply(reply.columns, reply.rows[:1])) == []
    assert fitting(story, Reply(reply.columns, (*reply.rows, reply.rows[0]))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, "NULL"),
        (("a", "b"), ("a, b",)),
        ((), ("",)),
        ((), "[]"),
        ({"a": "x", "b": 1}, {"a": "x, b: 1"}),
        (MapValue((("a", "b"), ("c", "d"))), MapValue((("a", "b, c → d"),))),
    ],
)
def test_values_that_are_only_written_the_same_are_two_answers(one: Value, other: Value) -> None:
    assert table_of(["a"], [[one]]) == table_of(["a"], [[one]])
    assert table_of(["a"], [[one]]) != table_of(["a"], [[other]])


def test_a_predicate_pushed_to_another_column_is_among_what_fits() -> None:
    story = history("insert 1,2; move f1 after f2; insert 3")
    where = Condition("f1", Comparison.EQUAL, "f3s1r1", "string")
    query = Query(columns=("id", "f1"), where=where)
    names = tuple(column for column in story.read().columns if column.name in {"id", "f1"})
    assert "by id, files left out by position" in fitting(story, Reply(names, ()), query)


def test_a_value_that_an_older_type_cannot_show_makes_no_prediction() -> None:
    story = history("insert 1; type n double; row id=2 n=2.5", "id string, n int")
    assert "by id" in fitting(story, story.read())


NUMBERS = "id string, ts long, a date, b int, c float, d long, e string"
STORED = "by position, values as they are stored"


def test_a_column_that_is_not_predicted_hides_no_other_and_counts_against_no_answer() -> None:
    # A long number is too great for a float; an int is a day under the name of a date.
    strategy = ReadStrategy(ColumnMapping.POSITION, stored=True)
    rows = "row id=1 d=9999999999; row id=2 d=9999999998"
    story = history(f"{rows}; move c after d; move a after b", NUMBERS)
    one = readings(story)
    days = [row[-1] for row in one.answer(strategy, Query(columns=("id", "a")))]
    assert all(isinstance(day, datetime.date) for day in days)
    for query in (ALL, Query(columns=("c",)), Query(count=True, where=not_null("c"))):
        with pytest.raises(ValueError, match="not predicted"):
            one.answer(strategy, query)
    names = tuple(column for column in story.read().columns if column.name in {"id", "a"})
    reply = Reply(names, tuple(zip(("1", "2"), days, strict=True)))
    assert fitting(story, reply, Query(columns=("id", "a"))) == [STORED]


def test_ids_are_given_anew_only_where_a_timestamp_is_asked_for() -> None:
    story = history("insert 1; move a after b; insert 2", "id string, a int, b int, at timestamp")
    result = readings(story)
    anew = [Query(), Query(columns=("id", "at")), Query(columns=("id", "a"), where=not_null("at"))]
    others = [Query(columns=("id", "a")), Query(count=True), Query(count=True, where=not_null("a"))]
    for query in (*anew, *others):
        mappings = {strategy.mapping for strategy in result.strategies(query)}
        assert (ColumnMapping.RENUMBERED in mappings) is (query in anew)


def test_a_reader_without_the_column_is_not_tried() -> None:
    story, query = history("insert 1,2; rename f1 g"), Query(columns=("id", "g"))
    reader = readings(story)
    tried = [
        strategy.catalog for strategy in reader.strategies(query) if reader.labels(strategy, query)
    ]
    assert tried == [None] * 3
    assert (
        len(reader.answers(query))
        == len({strategy.mapping for strategy in reader.strategies(query)}) - 1
    )
