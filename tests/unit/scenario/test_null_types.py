"""Types of Iceberg's format version 3 that a library adds: NULL in all rows, or nanoseconds."""

import pytest

from harness.formats import load
from harness.model.datatypes import NULL_ALONE, parse_type
from harness.model.schema import Table
from harness.model.truth import History, row_values
from harness.scenario.definition import Scenario, Step
from harness.scenario.derived import twin
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert
from harness.scenario.statements import IcebergCall, SetColumns

TABLE = Table((("id", parse_type("string")), ("f", parse_type("int"))), "id")
NEWEST = {"format_version": "3"}


def made(add: AddColumn) -> tuple[Scenario, History]:
    scenario = Scenario("x", TABLE, tuple(map(Step, (Insert((1,)), add, Insert((2,))))))
    return scenario, scenario.truths(merge_on_read=False).history()


@pytest.mark.parametrize("name", NULL_ALONE)
def test_every_row_has_null_and_no_catalog_is_told_of_the_column(name: str) -> None:
    add = AddColumn("u", parse_type(name))
    scenario, history = made(add)
    last = history[-1]
    assert [row_values(row, last.schema)[2] for row in last.rows.values()] == [None, None]
    call, listed, _ = load("iceberg").wording(add, history[1], history[2], NEWEST)
    assert listed == SetColumns((("id", "string"), ("f", "int"), ("u", "string")), cascade=False)
    assert isinstance(call, IcebergCall)
    assert call.arguments == {
        "name": "u",
        "type_": name,
        "default": None,
        "first": False,
        "after": None,
        "untold": True,
    }
    assert "version 3" in load("iceberg").unsupported_settings({}, scenario)
    assert load("iceberg").usual_settings(scenario)["format_version"] == ("3",)
    other = twin(scenario)
    assert other is None or str(other.survey.history[-1].schema.find("u").type) == name


def test_a_time_that_is_added_counts_nanoseconds_where_the_table_is_told_so() -> None:
    add = AddColumn("at", parse_type("timestamp"), default="1969-12-31 23:59:59.123456")
    scenario, history = made(add)
    settings = {**NEWEST, "moments": "timestamp_ns"}
    call, listed, _ = load("iceberg").wording(add, history[1], history[2], settings)
    assert isinstance(listed, SetColumns)
    assert listed.columns[-1] == ("at", "timestamp")
    assert isinstance(call, IcebergCall)
    assert call.arguments["type_"] == "timestamp_ns"
    assert call.arguments["untold"] is True
    (usual,) = load("iceberg").wording(add, history[1], history[2], NEWEST)
    assert isinstance(usual, IcebergCall)
    assert usual.arguments["type_"] == "timestamp"
    assert "untold" not in usual.arguments
    older = {**settings, "format_version": "2"}
    assert "version 3" in load("iceberg").unsupported_settings(older, scenario)


def test_a_part_of_such_a_type_needs_the_newest_tables_too() -> None:
    scenario, _ = made(AddColumn("s", parse_type("struct<a: unknown>")))
    assert "version 3" in load("iceberg").unsupported_settings({}, scenario)


@pytest.mark.parametrize("name", ["delta", "hudi-cow", "hive-parquet", "hive-acid"])
def test_other_formats_have_none_of_them(name: str) -> None:
    assert set(NULL_ALONE) <= load(name).unsupported_types
