"""`tools/measure/matrix.py` counts a run by scenario and by reader."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.builders import sample_run
from tools.measure import matrix


def test_every_verdict_is_counted_once(tmp_path: Path) -> None:
    found = sample_run.make(tmp_path)
    names = matrix.short(tuple(each.reader for each in found.info.readers))
    assert len(set(names.values())) == len(names)
    _, _, *rows = matrix.by_reader(found.to_frame(), names)
    counted = [int(each) for row in rows for each in row[2:-2].split(" | ")[-5:] if each.strip()]
    assert sum(counted) == len(found.verdicts)


def test_steps_that_were_not_applied_stand_beside_the_ticks(tmp_path: Path) -> None:
    found = sample_run.make(tmp_path)
    row_of = matrix.rows_of(found)
    undone = matrix.not_applied(found, row_of)
    assert sum(undone.values()) == len(found.failed_steps) > 0
    head, _, *rows = matrix.by_variants(
        found.to_frame(), {}, {**undone, ("never asked",): 7}, row_of
    )
    assert head == "| scenario | steps not applied |"
    assert "| never asked | 7 |" in rows
    for (scenario,), number in undone.items():
        assert f"| {scenario} | {number} |" in rows


def test_a_row_for_each_table_counts_the_same_cells(tmp_path: Path) -> None:
    found = sample_run.make(tmp_path)
    frame, row_of = found.to_frame(), matrix.rows_of(found, tables=True)
    undone = matrix.not_applied(found, row_of)
    head, _, *rows = matrix.by_variants(frame, {}, undone, row_of)
    assert head == "| scenario | format | writer | steps not applied |"
    assert len(rows) == len({row_of(each) for each in frame.variant})
    assert sum(undone.values()) == sum(matrix.not_applied(found, matrix.rows_of(found)).values())


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [([], ""), (["correct"] * 3, "✓"), (["correct", "unknown", "wrong", "wrong"], "≠ 2 ? 1")],
)
def test_only_what_is_all_correct_has_a_tick(verdicts: list[str], text: str) -> None:
    assert matrix.counts(pd.Series(verdicts, dtype=str)) == text
