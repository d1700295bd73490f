"""`tools/million.py` makes a run that holds together, whatever its size."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from harness.run import load_run, pipeline
from tools import million

RECORDED: Final = Path(__file__).parents[2] / "recorded" / "findings_a5"


def test_a_repeated_run_is_judged_as_the_recorded_one(tmp_path: Path) -> None:
    cells = len(load_run.load(RECORDED).info.cells)
    assert million.repeat(RECORDED, tmp_path / "run", cells + 1) == 2 * cells
    run = pipeline.judge_run(tmp_path / "run").run
    assert len(run.info.cells) == len({cell.case for cell in run.info.cells}) == 2 * cells
    verdicts = [(e.step, e.reader, e.view, e.query, e.verdict, e.because) for e in run.verdicts]
    half = len(verdicts) // 2
    assert verdicts[:half] == verdicts[half:]
    assert len({verdict.scenario for verdict in run.verdicts}) == 2 * 3


def test_a_command_is_measured_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(million, "HARNESS", Path("/bin/sh"))
    command, cells, status, *_, peak_mb = million.measure(["-c", "exit 3"], 10, tmp_path / "log")
    assert (command, cells, status) == ("-c exit 3", "10", "3")
    assert int(peak_mb) > 0
