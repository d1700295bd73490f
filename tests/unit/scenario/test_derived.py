import pytest
from hypothesis import given, settings

from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.scenario.definition import Partitioned, Scenario
from harness.scenario.derived import partitioned, twin
from harness.scenario.dump import dump
from harness.scenario.load import loads
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, RenameColumn
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch
from tests.builders.random_scenarios import scenarios
from tests.builders.scenarios import scenario_of


def types(columns: dict[str, str], *operations: Operation, partition_by: str = "") -> str:
    """The types of the twin's columns, and of the columns it adds."""
    order, parts = "ts" if "ts" in columns else None, (partition_by,) if partition_by else ()
    scenario = twin(scenario_of(*operations, columns=columns, order_by=order, partition_by=parts))
    if scenario is None:
        return "no twin"
    added = [s.operation.type for s in scenario.steps if isinstance(s.operation, AddColumn)]
    return ", ".join(str(type_) for type_ in [*dict(scenario.table.columns).values(), *added])


def add(name: str, type_: str) -> AddColumn:
    return AddColumn(name, parse_type(type_))


def test_columns_that_differ_take_the_type_of_the_first() -> None:
    columns = {"id": "long", "ts": "long", "a": "int", "b": "string", "c": "date"}
    assert types(columns, add("d", "double")) == "long, long, int, int, int, int"


def test_columns_that_agree_take_four_types_in_turn_and_added_ones_go_on_with_it() -> None:
    columns = {"id": "string", "ts": "long", "a": "int", "b": "int", "c": "int"}
    assert types(columns, add("d", "int"), add("e", "int")) == (
        "string, long, string, int, double, date, string"
    )


def test_partition_columns_and_columns_whose_type_changes_keep_theirs() -> None:
    columns = {"id": "string", "p": "int", "n": "int", "a": "date", "b": "string"}
    changes = (RenameColumn("n", "m"), ChangeType("m", parse_type("long")))
    assert types(columns, *changes, partition_by="p") == "string, int, int, date, date"


def test_leaves_of_nested_columns_take_the_types_and_keys_of_maps_do_not() -> None:
    columns = {"id": "string", "s": "struct<a: int, b: array<string>>", "m": "map<int, string>"}
    assert types(columns, add("s.c", "date")) == (
        "string, struct<a: int, b: array<int>>, map<int, int>, int"
    )


def test_there_is_no_twin_when_nothing_would_change() -> None:
    assert types({"id": "string", "a": "string"}) == "no twin"
    assert types({"id": "string", "a": "int", "b": "int"}) == "string, string, int"
    assert types({"id": "int"}) == "no twin"


COLUMNS = {"id": "string", "f1": "string", "f2": "string", "f3": "string"}
STORY = scenario_of(Insert((1, 2, 3, 4)), columns=COLUMNS)


def names(table: Table) -> list[str]:
    return [name for name, _ in table.columns]


@pytest.mark.parametrize(
    ("how", "columns", "by"),
    [
        (Partitioned.NONE, ["id", "f1", "f2", "f3"], ()),
        (Partitioned.LAST, ["id", "f1", "f2", "f3", "p"], ("p",)),
        (Partitioned.MIDDLE, ["id", "f1", "p", "f2", "f3"], ("p",)),
        (Partitioned.TWO, ["id", "f1", "p", "f2", "f3", "q"], ("p", "q")),
    ],
)
def test_partition_columns_stand_where_the_axis_says(
    how: Partitioned, columns: list[str], by: tuple[str, ...]
) -> None:
    table = partitioned(STORY, how).table
    assert (names(table), table.partition_by) == (columns, by)
    assert set(by) <= set(table.fixed)


def test_one_partition_column_halves_the_rows_and_a_second_one_halves_them_again() -> None:
    truth = partitioned(STORY, Partitioned.TWO).truths(merge_on_read=False).history()[-1]
    partitions = [row.group[1] for row in truth.rows.values()]
    assert partitions == [("p1", 0), ("p0", 1), ("p1", 1), ("p0", 0)]


def test_a_table_that_is_partitioned_gets_no_more_partitions() -> None:
    once = partitioned(STORY, Partitioned.LAST)
    assert partitioned(once, Partitioned.NONE) is once
    with pytest.raises(ValueError, match="partitioned already"):
        partitioned(once, Partitioned.MIDDLE)


def test_the_twin_leaves_partition_columns_alone() -> None:
    other = twin(partitioned(STORY, Partitioned.TWO))
    assert other is not None
    types = {name: str(type_) for name, type_ in other.table.columns}
    assert (types["p"], types["q"]) == ("string", "int")
    assert len({types["f1"], types["f2"], types["f3"]}) == 3


@settings(max_examples=4)
@given(scenarios())
def test_a_partitioned_scenario_can_be_done_and_is_read_back_from_its_text(
    scenario: Scenario,
) -> None:
    for how in Partitioned if not scenario.table.partition_by else ():
        made = partitioned(scenario, how)
        assert not made.survey.wrong
        again = loads(dump(made), made.path)
        assert (again.table, len(again.steps)) == (made.table, len(made.steps))


def test_writes_to_one_partition_leave_the_others_as_they_were() -> None:
    steps = [Insert((1, 2, 3, 4)), Insert((5, 6)), *[Touch(Rewrites.PARTITION)] * 3]
    made = partitioned(scenario_of(*steps, columns=COLUMNS), Partitioned.MIDDLE)
    history = made.truths(merge_on_read=False).history()
    others = [{k: row for k, row in t.rows.items() if row.group[1] == ("p0",)} for t in history[2:]]
    assert others[0] == others[-1] != {}
    changed = [k for k, row in history[-1].rows.items() if row is not history[2].rows.get(k)]
    groups = {history[-1].rows[key].group for key in changed}
    assert {partition for _, partition in groups} == {("p1",)}
    assert {step for step, _ in groups} == {1, 2, 3, 4, 5}
