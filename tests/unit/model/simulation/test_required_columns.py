"""Conditions on NULL that a schema decides, and readers that go by that."""

from __future__ import annotations

import pytest

from harness.model.query import Comparison, Condition, Query
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from harness.model.simulation.trusted_statistics import without_decided
from harness.model.truth import Truth
from tests.builders.judged_story import NULLS_BY_SCHEMA
from tests.builders.table_story import history

LATE = "insert 1,2; add late string; forbid late; insert 3"
BY_SCHEMA = ReadStrategy(ColumnMapping.ID, nulls_by_schema=True)


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


def test_the_way_is_called_by_what_it_does_and_includes_the_mapping_alone() -> None:
    assert str(BY_SCHEMA) == NULLS_BY_SCHEMA
    assert BY_SCHEMA.includes(ReadStrategy(ColumnMapping.ID))
