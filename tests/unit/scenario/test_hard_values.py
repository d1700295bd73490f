"""Hard values from the file to the statement, and the errors for impossible ones."""

import datetime
import json
from decimal import Decimal

import pytest

from harness.core.errors import ScenarioProblem
from harness.model.canonical import MapValue, Value, same
from harness.scenario.dump import dump
from harness.scenario.load import loads
from tests.builders.random_scenarios import without_lines

FILE = """
table:
  columns: {{id: string, ts: long, c: {type}}}
  key: id
  order_by: ts
steps:
  - insert:
      rows:
        - {{id: a, c: {value}}}
"""
NESTED = "map<string, array<struct<a: tinyint, b: string>>>"


def text(type_: str, value: str) -> str:
    return FILE.format(type=json.dumps(type_), value=value)


@pytest.mark.parametrize(
    ("type_", "written", "value", "statement"),
    [
        ("double", ".nan", float("nan"), "cast('nan' as double)"),
        ("float", "-.inf", float("-inf"), "cast('-inf' as float)"),
        ("double", "-0.0", -0.0, "cast('-0.0' as double)"),
        ("double", "5.0e-324", 5e-324, "cast(5e-324 as double)"),
        ("tinyint", "-128", -128, "cast(-128 as tinyint)"),
        ("long", "-9223372036854775808", -(2**63), "cast(-9223372036854775808 as bigint)"),
        ("decimal(38, 0)", f'"{"9" * 38}"', Decimal("9" * 38), f"cast({'9' * 38} as decimal"),
        ("decimal(18, 6)", '"-0.000001"', Decimal("-0.000001"), "cast(-0.000001 as decimal(18"),
        ("date", '"0001-01-02"', datetime.date(1, 1, 2), "cast('0001-01-02' as date)"),
        (
            "timestamp",
            '"2024-03-31 02:30:00.000001+02:00"',
            datetime.datetime(2024, 3, 31, 0, 30, 0, 1),  # noqa: DTZ001 - canonical
            "cast('2024-03-31 00:30:00.000001' as timestamp)",
        ),
        (
            "timestamp_ntz",
            '"2024-03-31 02:30:00.000001"',
            datetime.datetime(2024, 3, 31, 2, 30, 0, 1),  # noqa: DTZ001 - canonical
            "cast('2024-03-31 02:30:00.000001' as timestamp_ntz)",
        ),
        ("string", '""', "", "''"),
        ("string", '"e\\u0301 \\U0001f600"', "e\u0301 \U0001f600", "'e\u0301 \U0001f600'"),
        ("binary", '"0x00fF"', b"\x00\xff", "X'00ff'"),
        (
            "variant",
            '\'{"b": [1.50, null], "a": "x"}\'',
            '{"a":"x","b":[1.5,null]}',
            'parse_json(\'\\u007b"a":"x","b":[1.5,null]}\')',
        ),
        ("variant", "null", None, "cast(null as variant)"),
        ("char(4)", '"ab"', "ab  ", "'ab  '"),
        ("boolean", "null", None, "cast(null as boolean)"),
        (
            NESTED,
            '{k: [{a: -1, b: "x"}, null], l: []}',
            None,
            "map('k', array(named_struct('a', cast(-1 as tinyint), 'b', 'x'), cast(null as",
        ),
    ],
)
def test_a_value_is_written_as_it_stands_in_the_file(
    type_: str, written: str, value: Value, statement: str
) -> None:
    scenario = loads(text(type_, written), "x.yaml")
    before, after = scenario.truths(merge_on_read=False).history()
    (row,) = after.rows.values()
    stored = row.values[3]
    assert same(stored, value) or isinstance(stored, MapValue)
    (sql,) = scenario.steps[0].operation.sql(before, after)
    assert statement in sql
    again = loads(dump(scenario), "x.yaml")
    assert repr(without_lines(again)) == repr(without_lines(scenario))


@pytest.mark.parametrize(
    ("type_", "written", "problem"),
    [
        ("tinyint", "128", "'128' has no exact form as tinyint"),
        ("double", "1e999", "1e999 is read as inf; quote it to keep every digit"),
        ("date", '"10000-01-01"', "write 2024-01-31, the year from 0001 to 9999"),
        ("binary", "0x00ff", 'write its bytes as quoted text: "0x00ff"'),
        (NESTED, "{k: [{a: 200}]}", "'200' has no exact form as tinyint"),
    ],
)
def test_what_a_type_cannot_hold_is_reported_with_its_line(
    type_: str, written: str, problem: str
) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        loads(text(type_, written), "x.yaml")
    (line,) = str(wrong.value).splitlines()
    assert line.startswith(("x.yaml:7: step 1 insert: column 'c': ", "x.yaml:9: "))
    assert problem in line
