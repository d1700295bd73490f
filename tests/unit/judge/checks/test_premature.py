"""Premature: only where base files alone should be shown, and nothing newer than the step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import Origin
from harness.judge.checks import premature, stale
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from tests.builders.table_story import history

TOLD = history("insert 1,2; upsert 1; compact; upsert 1; upsert 1", mor=True)
FIELD = TOLD.truth.schema.find("f1")


def cell(step: int, key: str = "1", field_id: int = FIELD.id) -> Difference:
    origin = Origin(field_id, "f1", step, key)
    return Difference(DifferenceKind.CELL, "1", "f1", "expected", "found", FIELD, origin)


def explained(place: Difference, state: ExpectedState) -> tuple[bool, bool]:
    return stale.explains(place, state), premature.explains(place, state)


@pytest.mark.parametrize(
    ("step", "names"),
    [(1, (True, False)), (2, (False, False)), (4, (False, True)), (5, (False, True))],
)
def test_a_value_is_stale_before_and_premature_after_the_one_in_the_base_file(
    step: int, names: tuple[bool, bool]
) -> None:
    assert explained(cell(step), TOLD.state("read_optimized")) == names


def test_in_a_snapshot_nothing_is_premature() -> None:
    state = replace(TOLD.state("read_optimized"), newer=None)
    assert not premature.explains(cell(4), state)


def test_a_value_of_a_later_step_than_the_judged_one_is_not_premature() -> None:
    state = TOLD.state("read_optimized")
    before = replace(state, history=state.history[:5])
    assert explained(cell(5), before) == (False, False)


@pytest.mark.parametrize("place", [cell(4, key="2"), cell(4, field_id=FIELD.id + 1)])
def test_the_newer_value_of_another_row_or_field_is_not_premature(place: Difference) -> None:
    assert not premature.explains(place, TOLD.state("read_optimized"))


@pytest.mark.parametrize("what", [DifferenceKind.EXTRA_ROW, DifferenceKind.ABSENT_ROW])
def test_a_row_is_premature_where_it_is_as_log_files_have_it(what: DifferenceKind) -> None:
    state, place = TOLD.state("read_optimized"), Difference(what, "1", "", None, None)
    assert not premature.explains(place, state)
    assert premature.explains(replace(place, origin=Origin(2, "id", 4, "1")), state)


def test_a_null_is_premature_under_a_name_that_a_later_column_has_taken_over() -> None:
    story = history("insert 1; drop f1; add f1")
    state = replace(story.state(), history=story.history[:2], later=story.history[2:], newer=())
    field = state.schema.find("f1")
    null = Difference(DifferenceKind.CELL, "1", "f1", "f3s1r1", None, field)
    assert not premature.explains(null, state)
    assert premature.explains(null, replace(state, catalog=3))
    assert not premature.explains(replace(null, found="text"), replace(state, catalog=3))
