"""Columns with default values: what rows have that are older, and what readers show of them."""

import pytest

from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.schema import SchemaChangeError, Table
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from harness.model.truth import History, row_values
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Update
from tests.builders import simulated_disk
from tests.builders.simulated_disk import instant_of

TEXT = parse_type("string")
TABLE = Table((("id", TEXT), ("a", TEXT)), "id")
ADD = AddColumn("b", TEXT, default="x")
STEPS = (
    Insert((1,)),
    Insert((2,)),
    ADD,
    Insert((3,)),
    RenameColumn("b", "c"),
    Update((2,), ("a",)),
)


def history(*operations: Operation) -> History:
    scenario = Scenario("x", TABLE, tuple(map(Step, operations)))
    return scenario.truths(merge_on_read=False).history()


def shown(by: ColumnMapping) -> list[object]:
    """What a reader shows of the last column, once the file of row 2 was written anew."""
    truth_history = history(*STEPS)
    disk = simulated_disk.written(TABLE, STEPS, truth_history, merge_on_read=False)
    newest = {file.group: file.fact() for file in disk.until(len(STEPS))}
    numbers = {instant_of(step): step for step in range(len(truth_history))}
    reading = Simulation(truth_history, list(newest.values()), numbers)
    return [row.values[-1] for row in reading.rows(ReadStrategy(by))]


def test_rows_that_are_older_have_the_default_under_any_later_name() -> None:
    now = history(*STEPS)[-1]
    values = {key: row_values(row, now.schema)[-1] for key, row in now.rows.items()}
    assert values == {"1": "x", "2": "x", "3": "f3s4r3"}


def test_a_reader_without_defaults_lacks_them_where_no_file_was_written_since() -> None:
    assert sorted(map(str, shown(ColumnMapping.ID))) == ["f3s4r3", "x", "x"]
    assert sorted(map(str, shown(ColumnMapping.ID_ALONE))) == ["None", "f3s4r3", "x"]
    assert sorted(map(str, shown(ColumnMapping.NAME))) == ["None", "None", "x"]


def test_a_part_has_its_default_where_its_struct_is_there() -> None:
    table = Table((("id", TEXT), ("s", parse_type("struct<a: int>"))), "id")
    rows: tuple[dict[str, Value], ...] = ({"id": "1", "s": {"a": 7}}, {"id": "2", "s": None})
    steps = Insert(rows=rows), AddColumn("s.b", parse_type("int"), default=9)
    now = Scenario("x", table, tuple(map(Step, steps))).truths(merge_on_read=False).history()[-1]
    values = [row_values(row, now.schema)[-1] for row in now.rows.values()]
    assert values == [{"a": 7, "b": 9}, None]


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        (AddColumn("b", parse_type("int"), default="many"), "the default: "),
        (
            AddColumn("b", parse_type("array<int>"), default=1),
            "for a column or part that has no parts",
        ),
    ],
)
def test_a_default_is_a_value_of_a_plain_column(new: AddColumn, problem: str) -> None:
    with pytest.raises(SchemaChangeError, match=problem):
        new.evolve(history(Insert((1,)))[-1])
