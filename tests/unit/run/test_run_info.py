from __future__ import annotations

import json
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


def test_what_is_written_is_what_is_read_back(tmp_path: Path, sampled: Run) -> None:
    load_run.write_info(tmp_path / "again", sampled.info)
    assert load_run.read_info(tmp_path / "again") == sampled.info


def test_a_cell_is_found_by_its_case_in_the_file(sampled: Run) -> None:
    written = json.loads((sampled.folder / load_run.INFO).read_text("utf-8"))
    assert written["cells"][0]["case"] == sampled.info.cells[0].case


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
