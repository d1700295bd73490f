"""A maintenance may never change an answer: rows and columns are those of before it."""

from pathlib import Path

import pytest

from harness.plan.shipped import scenarios_folder
from harness.scenario.load import load
from harness.scenario.operations.services import MAINTENANCE_STEPS, Maintain

STORIES = sorted((scenarios_folder() / "maintenance").glob("*.yaml"))


@pytest.mark.parametrize("name", MAINTENANCE_STEPS)
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_rows_and_columns_stay(path: Path, name: str) -> None:
    scenario = load(path)
    *_, before = scenario.truths(merge_on_read=True).history()[:-1]
    after = Maintain().following(name).evolve(before)
    assert before.rows or before.gone, "nothing is there that could change"
    assert after.step == before.step + 1
    assert (after.rows, after.schema, after.spec) == (before.rows, before.schema, before.spec)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_of_maintenance_is_asked_before_it_and_after_it_alone(path: Path) -> None:
    scenario = load(path)
    assert [step.quiet for step in scenario.steps[-2:]] == [False, False]
    assert all(step.quiet for step in scenario.steps[:-2])
    assert isinstance(scenario.operations[-1], Maintain)
    assert len(scenario.queries) == 1
