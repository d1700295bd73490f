from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.run.causes import ScenarioPlace, ScenarioPlaces, causes
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.builders.placed_run import FILE, LINES, TEXT, placed


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return placed(sample_run.make(tmp_path / "run"), tmp_path)


def moved(run: Run) -> str:
    return next(variant.id for variant in run.info.variants if variant.scenario == "hudi/move")


def test_a_step_is_on_its_line(run: Run, tmp_path: Path) -> None:
    places = ScenarioPlaces(run)
    result = {step: places.of(moved(run), step) for step in LINES}
    assert result == {step: ScenarioPlace(tmp_path / FILE, line) for step, line in LINES.items()}
    assert places.of(moved(run), 0) == ScenarioPlace(tmp_path / FILE, 1)


@pytest.mark.parametrize(
    "text",
    [TEXT.replace("  - insert: [3]\n", ""), TEXT.replace("insert: [3]", "touch"), "steps: 7"],
)
def test_of_a_file_that_was_changed_since_no_line_is_claimed(
    run: Run, tmp_path: Path, text: str
) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert ScenarioPlaces(run).of(moved(run), 3) == ScenarioPlace(tmp_path / FILE, 1)


def test_a_cause_stands_where_it_began_and_not_where_it_was_seen(run: Run) -> None:
    places, result = ScenarioPlaces(run), causes(run.verdicts, run)
    since = [cause for cause in result if cause.key.operation.endswith("move_column")]
    assert since
    for cause in since:
        first = cause.first
        later = replace(cause, verdicts=(replace(first, step=first.step + 2), *cause.verdicts[1:]))
        assert [at and at.line for at in map(places.of_cause, (cause, later))] == [LINES[3]] * 2
