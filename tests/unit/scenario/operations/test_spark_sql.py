"""What a scenario holds never becomes a part of a statement: text is text, a name is a name."""

import json

import pytest

from harness import formats
from harness.scenario.load import loads
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.statements import Sql, filled

HARD = "{table} {database} {location} ${x} ${env:HOME} it's \\ ` -- /* ; 😀"


@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor", "hive-parquet"])
def test_text_that_looks_like_a_placeholder_or_a_variable_stays_text(name: str) -> None:
    scenario = loads(
        "table: {columns: {id: string, ts: long, f1: string}, key: id, order_by: ts}\n"
        f"steps:\n  - insert: {{rows: [{{id: 1, f1: {json.dumps(HARD)}}}]}}\n",
        "x/y.yaml",
    )
    before, after = scenario.truths(merge_on_read=False).history()
    (statement,) = formats.load(name).wording(scenario.steps[0].operation, before, after, {})
    assert isinstance(statement, Sql)
    sent = filled(statement.text, "db", "/the/place")
    assert sent.count("db.t") == 1
    assert "/the/place" not in sent
    assert "{" not in sent
    assert sent.count(r"\u007b") == HARD.count("{")
    assert r"it\'s \\ ` -- /* ; 😀'" in sent


def test_a_quote_in_a_name_ends_nothing() -> None:
    assert quoted("a`; drop table t; --") == "`a``; drop table t; --`"
