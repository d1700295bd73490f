"""Schema changes in the words of Hudi's write client, and the schemas of types that it is given."""

from __future__ import annotations

import json

import pytest

from harness import formats
from harness.formats.files import avro_types
from harness.model.datatypes import parse_type
from harness.model.table import Table
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import (
    AddColumn,
    ChangeNullability,
    ChangeType,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.services import Sync
from harness.scenario.statements import ClientCall, recorded

COLUMNS = {"id": "int", "ts": "long", "a": "string", "s": "struct<x: int, y: string>"}
TABLE = Table(tuple((name, parse_type(text)) for name, text in COLUMNS.items()), "id", "ts")
LONG = parse_type("long")


def told(operation: Operation, name: str = "hudi-mor", **settings: str) -> str:
    """Return what the writer of a table is told to do."""
    of = Scenario("x", TABLE, (Step(Insert(keys=(1,))), Step(operation)))
    *_, before, after = expected_history.history(of, merge_on_read=True, applied=[True] * 2)
    return "; ".join(map(recorded, formats.load(name).wording(operation, before, after, settings)))


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        (AddColumn("n", LONG), "addColumn('n', '\"long\"')"),
        (AddColumn("n", LONG, after="a"), "addColumn('n', '\"long\"', '', 'a', 'AFTER')"),
        (AddColumn("n", LONG, first=True), "addColumn('n', '\"long\"', '', '', 'FIRST')"),
        (AddColumn("s.n", LONG, after="x"), "addColumn('s.n', '\"long\"', '', 's.x', 'AFTER')"),
        (DropColumn("s.x"), "deleteColumns('s.x')"),
        (RenameColumn("s.x", "z"), "renameColumn('s.x', 'z')"),
        (MoveColumn("a", after="s"), "reOrderColPosition('a', 's', 'AFTER')"),
        (MoveColumn("s.y", first=True), "reOrderColPosition('s.y', '', 'FIRST')"),
        (ChangeType("s.x", LONG), "updateColumnType('s.x', '\"long\"')"),
        (ChangeNullability("a", nullable=False), "updateColumnNullability('a', 'false')"),
        (ChangeNullability("s.x", nullable=True), "updateColumnNullability('s.x', 'true')"),
    ],
)
def test_each_schema_change_is_one_call_where_that_is_asked_for(
    operation: Operation, call: str
) -> None:
    assert told(operation, schema_changes="write_client") == f"write client: {call}"
    by_sql = told(operation, schema_changes="sql")
    assert by_sql == told(operation)
    assert by_sql.startswith("alter table {database}.t ")


def test_a_write_is_sql_all_the_same() -> None:
    assert told(Insert(keys=(2,)), schema_changes="write_client") == told(Insert(keys=(2,)))


def test_a_client_knows_the_properties_of_the_table() -> None:
    settings = {"schema_changes": "write_client", "table_version": "6"}
    of = Scenario("x", TABLE, (Step(DropColumn("a")),))
    before, after = expected_history.history(of, merge_on_read=True, applied=[True])
    hudi = formats.load("hudi-cow")
    (call,) = hudi.wording(of.steps[0].operation, before, after, settings)
    assert isinstance(call, ClientCall)
    assert call.options == (("hoodie.write.table.version", "6"),)


def test_the_metastore_is_told_by_hudi_and_by_no_other_format() -> None:
    assert told(Sync()) == "call hive_sync(table => '{database}.t')"
    able = {name: not formats.load(name).unsupported(Sync()) for name in formats.names()}
    assert {name for name in able if able[name]} == {"hudi-cow", "hudi-mor"}


@pytest.mark.parametrize(
    ("type_", "avro"),
    [
        ("int", '"int"'),
        ("binary", '"bytes"'),
        ("date", '{"type": "int", "logicalType": "date"}'),
        ("timestamp", '{"type": "long", "logicalType": "timestamp-micros"}'),
        ("timestamp_ntz", '{"type": "long", "logicalType": "local-timestamp-micros"}'),
        ("map<string, int>", '{"type": "map", "values": ["null", "int"]}'),
    ],
)
def test_a_type_has_the_schema_of_avros_specification(type_: str, avro: str) -> None:
    assert avro_types.schema(parse_type(type_), "c") == json.loads(avro)


@pytest.mark.parametrize(
    ("precision", "size"), [(2, 1), (4, 2), (9, 4), (10, 5), (18, 8), (38, 16)]
)
def test_a_decimal_has_the_bytes_that_spark_gives_it(precision: int, size: int) -> None:
    made = avro_types.schema(parse_type(f"decimal({precision}, 1)"), "c")
    assert (made["size"], made["precision"], made["scale"]) == (size, precision, 1)


def test_the_parts_of_a_type_may_be_null_and_each_struct_has_a_name_of_its_own() -> None:
    made = avro_types.schema(parse_type("struct<a: struct<b: int>, c: array<struct<d: int>>>"), "n")
    assert made["fields"][0]["type"] == [
        "null",
        {
            "type": "record",
            "name": "n_a",
            "fields": [{"name": "b", "type": ["null", "int"], "default": None}],
        },
    ]
    assert made["fields"][1]["type"][1]["items"][1]["name"] == "n_c_element"
    assert avro_types.text(made) == "struct<a: struct<b: int>, c: array<struct<d: int>>>"


def test_what_avro_has_not_has_no_schema() -> None:
    with pytest.raises(ValueError, match=r"Avro has no type char\(3\)"):
        avro_types.schema(parse_type("char(3)"), "c")
