"""A table of other columns takes the place of one: no column of before is one of its own."""

from harness.formats import load
from harness.scenario.load import loads
from harness.scenario.statements import Sql

STORY = """
table:
  columns: {id: string, ts: long, f1: string, f2: string}
  key: id
  order_by: ts
steps:
  - insert: [1, 2]
  - replace_table: {columns: {id: string, f2: int, ts: long, g: string}}
  - insert: [2]
"""


def test_no_row_is_there_and_each_column_without_a_role_has_another_id() -> None:
    history = loads(STORY, "a/b.yaml").survey.history
    old, new, last = history[1:]
    assert not new.rows
    assert set(new.gone) == {"1", "2"}
    assert new.schema.names == ("id", "f2", "ts", "g")
    same = [name for name in new.schema.names if old.schema.has(name) and name != "g"]
    assert [new.column_id(n) == old.column_id(n) for n in same] == [True, False, True]
    assert list(last.rows) == ["2"]
    assert set(last.gone) == {"1"}


def test_formats_create_it_again_in_its_place() -> None:
    scenario = loads(STORY, "a/b.yaml")
    before, after = scenario.survey.history[1:3]
    for name, using in (("iceberg", "using iceberg"), ("delta", "using delta")):
        (sent,) = load(name).wording(scenario.operations[1], before, after, {})
        assert isinstance(sent, Sql)
        assert sent.text.startswith("create or replace table {database}.t (`id` string, `f2` int,")
        assert using in sent.text
