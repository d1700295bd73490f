"""Rows that a reader leaves out which trusts statistics."""

from __future__ import annotations

import pytest

from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, StatisticsSource
from harness.model.query import Comparison, Condition, Query, not_null
from harness.model.simulation.reader import Simulation, can_hold, without_decided
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from harness.model.truth import Truth
from tests.builders.judged_story import NULLS_BY_SCHEMA
from tests.builders.table_story import Story, history

WHERE = (Condition("g", Comparison.NOT_NULL),)


def left_keys(
    found: Story, bounds: ColumnStatistics, where: tuple[Condition, ...] = WHERE
) -> list[str]:
    reading = Simulation(found.history, found.facts, found.steps, statistics=[bounds])
    rows = reading.rows(ReadStrategy(ColumnMapping.ID, trusted=str(bounds.source)), where)
    return sorted(row.key for row in rows)


def null_statistics(path: str, column: str, source: StatisticsSource) -> ColumnStatistics:
    return ColumnStatistics(source, path, column, 2, 2)


def test_the_columns_of_a_file_are_looked_up_by_its_own_name_or_todays() -> None:
    found = history("insert 1,2; rename f1 g; insert 3")
    path = found.disk.files[0].path
    for column, left in (("f1", ["3"]), ("g", ["3"]), ("f2", ["1", "2", "3"])):
        assert left_keys(found, null_statistics(path, column, StatisticsSource.PARQUET)) == left


def test_a_folder_is_left_out_with_all_its_files() -> None:
    found = history("insert 1,2; rename f1 g; insert 3; upsert 1", mor=True)
    assert left_keys(found, null_statistics("", "f1", StatisticsSource.HUDI_PARTITION)) == ["3"]
    assert left_keys(found, null_statistics("", "g", StatisticsSource.HUDI_PARTITION)) == []


def test_parts_of_structs_are_found_by_the_names_in_the_file() -> None:
    found = history("insert 1; rename a.b c", "id string, ts long, a struct<b: int, d: int>")
    path = found.disk.files[0].path
    where = (Condition("a.c", Comparison.NOT_NULL),)
    stored = ColumnStatistics(StatisticsSource.PARQUET, path, "a.b", 1, 1)
    assert left_keys(found, stored, where) == []
    assert left_keys(
        found, ColumnStatistics(StatisticsSource.PARQUET, path, "a.d", 1, 1), where
    ) == ["1"]


NAN = float("nan")


def equal(literal: str, type_: str = "string") -> Condition:
    return Condition("f", Comparison.EQUAL, literal, type_)


@pytest.mark.parametrize(
    ("condition", "values", "can"),
    [
        (equal("b"), ["a", "c"], True),
        (equal("d"), ["a", None, "c"], False),
        (equal("a"), [None], False),
        (equal("a"), [], False),
        (equal("7", "int"), [7], True),
        (equal("7", "int"), ["a"], True),
        (equal("7.0", "double"), [1.0, 2.0], False),
        (equal("7.0", "double"), [1.0, NAN, 2.0], True),
        (equal("7.0", "double"), [NAN, 1.0], True),
        (not_null("f"), [None, None], False),
        (not_null("f"), [None, 1], True),
        (Condition("f", Comparison.NULL), [1, 2], False),
        (Condition("f", Comparison.NULL), [1, None], True),
    ],
)
def test_a_file_is_left_out_where_no_row_can_be_meant(
    condition: Condition, values: list[Value], *, can: bool
) -> None:
    assert can_hold(condition, values) is can


LATE = "insert 1,2; add late string; forbid late; insert 3"


def required(steps: str) -> set[str | None]:
    truth = history(steps).truth
    return {truth.schema.path_of(number) for number in truth.required}


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ("insert 1", set()),
        (LATE, {"late"}),
        (f"{LATE}; rename late g; move g first", {"g"}),
        (f"{LATE}; allow late", set()),
        (f"{LATE}; allow f1", {"late"}),
        (f"{LATE}; drop late; add late string", {None}),
        ("insert 1; forbid f1; rollback", set()),
    ],
)
def test_a_column_forbids_null_until_it_is_allowed_or_the_step_is_taken_back(
    steps: str, names: set[str | None]
) -> None:
    assert required(steps) == names


def left(truth: Truth, *where: tuple[str, Comparison]) -> Query | None:
    first, second = (*(Condition(*each) for each in where), None)[:2]
    return without_decided(Query(where=first, also=second), truth)


def test_null_is_nowhere_where_the_schema_forbids_it_and_elsewhere_is_looked_for() -> None:
    truth = history(LATE).truth
    assert left(truth, ("late", Comparison.NULL)) is None
    assert left(truth, ("f1", Comparison.NULL), ("late", Comparison.NULL)) is None
    assert left(truth, ("late", Comparison.NOT_NULL)) == Query()
    f1 = Condition("f1", Comparison.NOT_NULL)
    assert left(truth, ("late", Comparison.NOT_NULL), ("f1", Comparison.NOT_NULL)) == Query(also=f1)
    assert left(truth, ("f1", Comparison.NOT_NULL)) == Query(where=f1)


def test_a_part_forbids_null_only_if_the_struct_does_too() -> None:
    columns = "id string, ts long, s struct<a: string>"
    one, both = (
        history(f"insert 1; {literal}", columns).truth for literal in ("forbid s.a", "forbid s")
    )
    assert left(one, ("s.a", Comparison.NULL)) is not None
    assert left(both, ("s.a", Comparison.NULL)) is not None
    truth = history("insert 1; forbid s; forbid s.a", columns).truth
    assert left(truth, ("s.a", Comparison.NULL)) is None


def ways(steps: str, *where: Condition) -> set[str]:
    story = history(steps)
    found = Simulation(story.history, story.facts, story.steps).strategies(where)
    return {str(strategy) for strategy in found if strategy.nulls_by_schema}


def test_the_way_is_tried_only_for_a_condition_on_null_of_such_a_column() -> None:
    null = Condition("late", Comparison.NULL)
    assert NULLS_BY_SCHEMA in ways(LATE, null)
    assert not ways(LATE)
    assert not ways(LATE, Condition("f1", Comparison.NULL))
    assert not ways(LATE, Condition("late", Comparison.EQUAL, "x", "string"))
    assert not ways(f"{LATE}; allow late", null)
    assert not any("left out" in text or "catalog" in text for text in ways(LATE, null))
