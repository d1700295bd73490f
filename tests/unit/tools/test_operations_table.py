"""`tools/measure/operations.py` counts runs by operation, format and reader."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tests.builders import sample_run
from tools.measure import operations


def test_each_format_has_a_row_for_each_operation_that_was_asked_about(tmp_path: Path) -> None:
    frame = operations.cells(sample_run.make(tmp_path))
    told = list(operations.page(frame))
    for name, of in frame.groupby("format"):
        assert f"## {name}" in told
        assert f"{len(of):,} cells." in told
    rows = [line for line in told if line.startswith("| `")]
    assert len(rows) == len(frame.groupby(["format", "operation"]))


def test_settings_of_a_reader_are_taken_together_and_a_tick_means_that_all_are_right() -> None:
    told = [
        ("f", "insert", "a-1", "correct"),
        ("f", "insert", "a-1", "correct"),
        ("f", "insert", "b-1", "wrong"),
        ("f", "insert", "b-1", "correct"),
        ("f", "touch", "a-1", "unsupported"),
    ]
    frame = pd.DataFrame(told, columns=pd.Index(operations.KEPT))
    assert list(operations.of_format(frame))[2:] == [
        "| `insert` | ✓ | ≠ 1 of 2 |",
        "| `touch` | - 1 of 1 |  |",
    ]


def test_two_runs_are_counted_together(tmp_path: Path) -> None:
    frame = operations.cells(sample_run.make(tmp_path))
    assert not set(frame.reader.str.partition("{")[1]) - {""}
    twice = list(operations.page(pd.concat([frame, frame])))
    assert f"{2 * (frame.format == frame.format.iloc[0]).sum():,} cells." in twice
