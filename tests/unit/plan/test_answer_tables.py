"""Who is asked for what tables of their own answer, and after which steps."""

from collections.abc import Mapping

import pytest

from harness import formats
from harness.plan import Profile, ProfileReader, Writer, plan
from harness.plan.distribution_support import cannot_ask
from harness.scenario.cells import parse_reader
from harness.scenario.definition import Scenario
from harness.scenario.load import loads

SPARK, LIBRARY = "spark-4.1.4-iceberg-1.12.0", "pyiceberg-0.12.0"
STORY = """\
table:
  columns: {id: string, ts: long, p: int, f1: string}
  key: id
  order_by: ts
  partition_by: [p]
formats: [iceberg]
queries: [lineage, groups]
steps:
  - insert: [1, 2]
  - set_table_version: 3
  - insert: [3]
"""


def asked(
    scenario: Scenario, reader: str = SPARK, settings: Mapping[str, str] | None = None
) -> tuple[set[tuple[int, str]], set[str]]:
    readers = (ProfileReader(parse_reader(reader)),)
    profile = Profile(
        "mine",
        (scenario.name,),
        formats=("iceberg",),
        writers=(Writer(SPARK, settings=settings or {}),),
        readers=readers,
        queries=("count_all",),
        views=("snapshot", "as_of"),
    )
    made = plan((scenario,), profile, [formats.load("iceberg")], cannot_ask=cannot_ask)
    cells = {(cell.step, cell.query) for cell in made.cells if cell.query != "count_all"}
    return cells, {excluded.why for excluded in made.excluded}


def test_where_rows_come_from_is_asked_since_tables_say_it() -> None:
    scenario = loads(STORY, "a/b.yaml")
    cells, why = asked(scenario)
    assert {step for step, query in cells if query == "lineage"} == {2, 3}
    assert "the table does not say where its rows come from" in why
    assert "it is asked of the table as it is now alone" in why
    newer, _ = asked(scenario, settings={"format_version": "3"})
    assert {step for step, query in newer if query == "lineage"} == {1, 2, 3}


@pytest.mark.parametrize(("reader", "steps"), [(SPARK, {1, 2, 3}), (LIBRARY, set())])
def test_groups_of_a_partition_column_are_asked_for_in_sql_alone(
    reader: str, steps: set[int]
) -> None:
    cells, why = asked(loads(STORY, "a/b.yaml"), reader)
    assert {step for step, query in cells if query == "groups(p)"} == steps
    assert ("it is asked by calls, and not in SQL" in why) is not bool(steps)
