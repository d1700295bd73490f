from __future__ import annotations

from harness.model.datatypes import parse_type
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, RenameColumn
from harness.scenario.twin import twin
from tests.builders.scenarios import scenario_of


def types(columns: dict[str, str], *operations: Operation, partition_by: str = "") -> str:
    """The types of the twin's columns, and of the columns it adds."""
    found = twin(
        scenario_of(
            *operations,
            columns=columns,
            order_by="ts" if "ts" in columns else None,
            partition_by=(partition_by,) if partition_by else (),
        )
    )
    if found is None:
        return "no twin"
    added = [s.operation.type for s in found.steps if isinstance(s.operation, AddColumn)]
    return ", ".join(str(type_) for type_ in [*dict(found.table.columns).values(), *added])


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
