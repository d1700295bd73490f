from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.errors import UsageProblem
from harness.run import load_run
from harness.run.load_run import Run
from harness.scenario.cells import Cell
from tests.builders import sample_run


@pytest.fixture
def sampled(tmp_path: Path) -> Run:
    return sample_run.make(tmp_path / "run")


def test_a_folder_without_a_run_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"is not a run: it has no run\.json"):
        load_run.read_info(tmp_path)


def test_a_broken_run_file_is_wrong_use_and_names_the_field(tmp_path: Path) -> None:
    (tmp_path / load_run.INFO).write_text('{"id": 7}')
    with pytest.raises(UsageProblem, match=r"run\.json: id: "):
        load_run.read_info(tmp_path)


def test_a_cell_of_the_plan_is_the_same_after_reading(sampled: Run) -> None:
    assert sampled.info.cells[0] == Cell(
        sample_run.VARIANTS[0].id, 1, sample_run.NAMES[0], "snapshot", "all"
    )
