"""Which steps tell ways of reading apart, and that every shipped scenario has such steps."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Final

import pytest

from harness import formats
from harness.cli import plan_options
from harness.formats.api import Changes, FileLayout
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from harness.plan.separation import Apart, idle, separation
from harness.run import load_run, plan_record
from harness.scenario.cells import Variant
from harness.scenario.load import loads
from tests.builders.recorded_run import RECORDED

FINDERS: Final = (
    ReadStrategy(ColumnMapping.ID),
    ReadStrategy(ColumnMapping.NAME),
    ReadStrategy(ColumnMapping.POSITION),
)
COPY: Final = FileLayout(Changes.REPLACE, partitions=True)
STORY = """
table: {columns: {id: string, ts: long, f1: string, f2: string}, key: id, order_by: ts}
steps:
  - insert: [1, 2]
  - move_column: {name: f1, after: f2}
  - update: {keys: [1], set: [f1]}
"""

NOTHING_APART: Final = {
    ("hive/all_types", 3): "the new column is the last one: every way finds none in old files",
    ("hudi/nested_add", 3): "parts of a struct have names in files, and the new name is new",
    ("hudi/nested_drop", 3): "nothing has taken the place or name of the dropped part yet",
    ("hudi/nested_widen", 3): "every way finds the part; asked is what becomes of its values",
    ("iceberg/not_null", 2): "no column moves: NULL is forbidden in it",
    ("hudi/widen", 3): "every way finds the column; asked is what becomes of its values",
}
"""Schema changes of shipped scenarios whose questions tell no two ways apart, and why they stay."""
NO_FINDER: Final = {
    "hive/hard_texts": "it is about texts, and no step changes the columns",
    "hive/all_types": "it is about types; its one schema change adds the last column",
    **{
        f"{family}/partition_values": "it is about the values of partitions, and changes rows only"
        for family in ("hive", "hudi", "iceberg")
    },
    "hudi/committed_then_failed": "it is about a step of the writer's, and changes rows only",
    "hudi/nested_add": "see its step 3",
    "hudi/nested_widen": "see its step 3",
    "hudi/updates_and_deletes": "it changes rows only",
    "hudi/widen": "see its step 3",
}
"""Shipped scenarios that tell by id, by name and by position from each other nowhere, and why."""


def apart(text: str, layout: FileLayout = COPY) -> tuple[Apart, ...]:
    return separation(loads(text, "story.yaml"), layout)


@cache
def shipped() -> tuple[tuple[Variant, tuple[Apart, ...]], ...]:
    plan = plan_options.make(None, "main", "")
    return tuple(
        (
            variant,
            separation(
                variant.scenario, formats.load(variant.format).file_layout(variant.settings)
            ),
        )
        for variant in plan.variants
    )


def test_a_move_tells_readers_by_position_from_the_others() -> None:
    first, second, third = apart(STORY)
    assert [len(step.groups) for step in (first, second)] == [1, 2]
    assert second.groups == (
        (ReadStrategy(ColumnMapping.ID), ReadStrategy(ColumnMapping.NAME)),
        (ReadStrategy(ColumnMapping.POSITION),),
    )
    assert second.tells(ReadStrategy(ColumnMapping.ID), ReadStrategy(ColumnMapping.POSITION))
    assert not second.tells(ReadStrategy(ColumnMapping.ID), ReadStrategy(ColumnMapping.NAME))
    # The update has replaced the only file by one in the new order.
    assert len(third.groups) == 1


def test_log_files_tell_readers_of_base_files_from_the_others() -> None:
    *_, last = apart(STORY, FileLayout(Changes.LOG, partitions=True))
    assert last.tells(ReadStrategy(ColumnMapping.ID), ReadStrategy(ColumnMapping.ID, Logs.IGNORED))
    assert last.tells(ReadStrategy(ColumnMapping.ID), ReadStrategy(ColumnMapping.POSITION))


def test_a_schema_change_is_idle_until_a_question_after_it_tells_something() -> None:
    late = f"{STORY}  - rename_column: {{name: f1, to: g}}\n"
    added = STORY.replace("move_column: {name: f1, after: f2}", "add_column: {name: f3, type: int}")
    assert [step.step for step in idle(apart(added))] == [2]
    assert idle(apart(STORY)) == ()
    assert idle(apart(late)) == ()


def test_every_schema_change_of_a_shipped_scenario_tells_something_or_says_why_not() -> None:
    result = {
        (variant.scenario.name, step.step) for variant, aparts in shipped() for step in idle(aparts)
    }
    assert result == NOTHING_APART.keys()


def test_every_shipped_scenario_tells_ways_to_find_columns_apart_or_says_why_not() -> None:
    request: dict[str, bool] = {}
    for variant, steps in shipped():
        tells = any(step.tells(*pair) for step in steps for pair in combinations(FINDERS, 2))
        request[variant.scenario.name] = request.get(variant.scenario.name, False) or tells
    assert {name for name, tells in request.items() if not tells} == NO_FINDER.keys()


@pytest.mark.parametrize("format_", ["hudi-cow", "hudi-mor", "hive-parquet", "iceberg"])
@pytest.mark.parametrize(("left", "right"), list(combinations(FINDERS, 2)), ids=str)
def test_on_every_format_the_profile_main_tells_every_two_ways_to_find_columns_apart(
    format_: str, left: ReadStrategy, right: ReadStrategy
) -> None:
    steps = [step for variant, aparts in shipped() if variant.format == format_ for step in aparts]
    assert any(step.tells(left, right) for step in steps)


def test_what_real_answers_told_apart_was_foretold() -> None:
    plan = plan_record.plan_of(load_run.read_info(RECORDED))
    for variant in plan.variants:
        steps = separation(variant.scenario, COPY)
        change = next(step for step in steps if step.changes_schema)
        name = variant.scenario.name
        pair = (
            ReadStrategy(ColumnMapping.ID),
            ReadStrategy(ColumnMapping.NAME if name == "hudi/rename" else ColumnMapping.POSITION),
        )
        assert change.tells(*pair), variant.id
