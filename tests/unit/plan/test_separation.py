"""Which steps tell ways of reading apart, and that every shipped scenario has such steps."""

from itertools import combinations, pairwise
from typing import Final

from harness import formats
from harness.cli import plan_options
from harness.formats.api import Changes, FileLayout
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from harness.plan.separation import Groups, separation
from harness.scenario.load import loads

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


NOTHING_SEPARATE: Final = {
    ("hive/all_types", 3): "the new column is the last one: old files have it by no strategy",
    ("hudi/nested_add", 3): "parts of a struct have names in files, and the new name is new",
    ("hudi/nested_drop", 3): "nothing has taken the place or name of the dropped part yet",
    ("hudi/nested_widen", 3): "every strategy finds the part; asked is what becomes of its values",
    ("hudi/widen", 3): "every strategy finds the column; asked is what becomes of its values",
    ("iceberg/not_null", 2): "no column moves: NULL is forbidden in it",
}
"""Schema changes of shipped scenarios whose questions separate no strategies, and why they stay."""


def separated(text: str, layout: FileLayout = COPY) -> list[Groups]:
    return list(separation(loads(text, "story.yaml"), layout).values())


def differ(groups: Groups, left: ReadStrategy, right: ReadStrategy) -> bool:
    return sum(left in group or right in group for group in groups) > 1


def test_a_move_separates_readers_by_position_from_the_others() -> None:
    first, second, third = separated(STORY)
    # The update has replaced the only file by one in the new order.
    assert len(first) == len(third) == 1
    assert second == (
        (ReadStrategy(ColumnMapping.ID), ReadStrategy(ColumnMapping.NAME)),
        (ReadStrategy(ColumnMapping.POSITION),),
    )


def test_log_files_separate_readers_of_base_files_from_the_others() -> None:
    *_, last = separated(STORY, FileLayout(Changes.LOG, partitions=True))
    by_id = ReadStrategy(ColumnMapping.ID)
    assert differ(last, by_id, ReadStrategy(ColumnMapping.ID, Logs.IGNORED))
    assert differ(last, by_id, ReadStrategy(ColumnMapping.POSITION))


def test_shipped_scenarios_separate_strategies_after_each_schema_change_or_say_why_not() -> None:
    nothing, pairs = set[tuple[str, int]](), dict[str, set[str]]()
    by_format: dict[str, set[str]] = {}
    for variant in plan_options.make(None, "main", "").variants:
        layout = formats.load(variant.format).file_layout(variant.settings)
        steps = separation(variant.scenario, layout)
        name, operations = variant.scenario.name, variant.scenario.operations
        changes = [step for step in steps if operations[step - 1].CHANGES_SCHEMA]
        for first, following in pairwise([*changes, len(operations) + 1]):
            if all(len(steps[step]) == 1 for step in steps if first <= step < following):
                nothing.add((name, first))
        differing = {
            f"{left} | {right}"
            for left, right in combinations(FINDERS, 2)
            if any(differ(groups, left, right) for groups in steps.values())
        }
        pairs.setdefault(name, set()).update(differing)
        by_format.setdefault(variant.format, set()).update(differing)
    assert nothing == NOTHING_SEPARATE.keys()
    assert {name for name, differing in pairs.items() if not differing} == NO_FINDER.keys()
    for format_name in ("hudi-cow", "hudi-mor", "hive-parquet", "iceberg"):
        assert len(by_format[format_name]) == len(list(combinations(FINDERS, 2))), format_name
