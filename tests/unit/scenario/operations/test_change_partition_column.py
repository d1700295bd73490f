"""What should not be done to a partition column: the statement is sent, no value changes."""

import pytest

from harness.core.errors import UsageProblem
from harness.scenario.load import loads

SCENARIO = """\
table:
  columns: {{id: string, ts: long, f1: string, p: int}}
  key: id
  order_by: ts
  partition_by: [p]
steps:
  - insert: [1, 2]
  - change_partition_column: {{{change}}}
"""
STATEMENTS = {
    "column: p, rename: q": "alter table {table} rename column `p` to `q`",
    "column: p, drop: true": "alter table {table} drop column `p`",
    "column: p, after: ts": "alter table {table} alter column `p` after `ts`",
    "column: p, to: long": "alter table {table} alter column `p` type bigint",
}


@pytest.mark.parametrize("change", STATEMENTS)
def test_each_change_is_one_statement_and_changes_no_value(change: str) -> None:
    scenario = loads(SCENARIO.format(change=change), "family/name.yaml")
    truth_history = scenario.truths(merge_on_read=True).history()
    operation = scenario.steps[1].operation
    assert operation.sql(*truth_history[1:]) == (STATEMENTS[change],)
    assert truth_history[2].rows == truth_history[1].rows
    same_schema = "drop" in change
    assert (truth_history[2].schema == truth_history[1].schema) is same_schema
    assert operation.text().endswith(", a partition column")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("column: f1, rename: q", "'f1' is no partition column; there are: p"),
        ("column: p", "say one change: 'rename', 'drop: true', 'after' or 'to'"),
        ("column: p, rename: q, drop: true", "say one change: "),
    ],
)
def test_what_it_cannot_be_asked_is_reported_with_the_line(change: str, problem: str) -> None:
    with pytest.raises(UsageProblem) as wrong:
        loads(SCENARIO.format(change=change), "family/name.yaml")
    assert f"family/name.yaml:8: step 2 change_partition_column: {problem}" in str(wrong.value)
