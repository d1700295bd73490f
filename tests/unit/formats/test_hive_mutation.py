from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness import formats
from harness.scenario.load import loads
from harness.scenario.statements import ABORT, COMMIT, Mutation, recorded

SCENARIO = """
formats: [hive-acid]
table:
  columns: {columns}
  key: id
  order_by: ts
{more}
steps:
  - insert: [1, 2]
  - {step}
"""
PLAIN = "{id: string, ts: long, f1: string}"
ACID = formats.load("hive-acid")


def batch(step: str, columns: str = PLAIN, more: str = "") -> Mutation:
    text = SCENARIO.replace("{columns}", columns).replace("{more}", more).replace("{step}", step)
    scenario = loads(text, "x/y.yaml")
    before, after = scenario.truths(merge_on_read=False).history()[1:3]
    (statement,) = ACID.wording(scenario.steps[1].operation, before, after, {})
    assert isinstance(statement, Mutation)
    return statement


def row(statement: Mutation, at: int = 0) -> Mapping[str, object]:
    actual = statement.rows[at]["row"]
    assert isinstance(actual, dict)
    return actual


def test_a_batch_has_whole_rows_and_of_a_row_that_goes_the_key_alone() -> None:
    actual = batch("mutate: {update: [1], insert: [3], delete: [2]}")
    assert [mapping["do"] for mapping in actual.rows] == ["update", "insert", "delete"]
    assert row(actual) == {"id": "1", "ts": 202001, "f1": "f3s2r1"}
    assert row(actual, 2) == {"id": "2"}
    assert actual.columns == (("id", "string"), ("ts", "bigint"), ("f1", "string"))
    assert (actual.key, actual.ends) == ("id", COMMIT)


def test_a_write_that_fails_sends_all_its_rows_and_aborts() -> None:
    actual = batch("failed_write: [1, 3]")
    assert [mapping["do"] for mapping in actual.rows] == ["update", "insert"]
    assert actual.ends == ABORT


def test_a_partition_is_named_by_text_and_is_no_column_of_a_row() -> None:
    columns = "{id: string, ts: long, p: int, f1: string}"
    actual = batch("mutate: {update: [1], delete: [2]}", columns, "  partition_by: [p]")
    assert [mapping["partition"] for mapping in actual.rows] == [["1"], ["0"]]
    assert "p" not in row(actual)
    assert "p" not in dict(actual.columns)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("binary", "663373327233"),
        ("boolean", True),
        ("decimal(10, 2)", "302003.25"),
        ("date", "2304-01-14"),
        ("timestamp", "2001-01-04 11:53:23.250000"),
        ("double", 302003.5),
        ("array<int>", [402003, 402503]),
        ("map<string, int>", {"f4s2r3": 502003}),
        ("struct<a: int, b: string>", {"a": 402003, "b": "f5s2r3"}),
    ],
)
def test_every_type_has_the_form_that_hive_reads_from_json(kind: str, value: object) -> None:
    actual = batch("mutate: {insert: [3]}", f'{{id: string, ts: long, f: "{kind}"}}')
    assert row(actual)["f"] == value


def test_a_batch_is_recorded_with_its_rows_and_its_end() -> None:
    assert recorded(batch("failed_write: [3]")) == (
        'Mutation API, then abort: {"columns": {"id": "string", "ts": "bigint", "f1": "string"}, '
        '"rows": [{"do": "insert", "partition": [], '
        '"row": {"id": "3", "ts": 202003, "f1": "f3s2r3"}}]}'
    )
