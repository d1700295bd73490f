"""`tools/measure/frame_changes.py` sees what a table with other columns does not show rightly."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tools import claim_measured
from tools.claim_evidence import Standing
from tools.measure import frame_changes
from tools.measure.frame_changes import BASE, CHANGES, RIGHT, WRITTEN, ShownFrame
from tools.measured_evidence import FrameChanges

DUE = {"k1": {"id": "k1", "d": "d1"}, "k2": {"id": "k2", "d": "None"}}
APPEND = CHANGES[0].name


def test_a_frame_has_the_columns_in_their_order_and_a_row_for_each_number() -> None:
    assert frame_changes.query({"id": "'k{n}'", "ts": "{ts}L"}, (1, 2), 7) == (
        "select 'k1' as id, 7L as ts union all select 'k2' as id, 7L as ts"
    )


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (DUE, RIGHT),
        ({"k1": DUE["k1"]}, "k2 is not there"),
        ({"k1": DUE["k1"], "k2": {"id": "k2"}}, "no column d"),
        ({**DUE, "k2": {"id": "k2", "d": "d1"}}, "d of k2 is d1 instead of None"),
        ({key: {**row, "b": "1"} for key, row in DUE.items()}, "the column b is still there"),
        ({**DUE, "k9": {"id": "k9", "d": "d9"}}, "k9 is there"),
    ],
)
def test_the_first_place_that_is_not_as_it_must_be_is_told(
    shown: frame_changes.Rows, told: str
) -> None:
    assert frame_changes.wrong(DUE, shown) == told


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.name)
def test_rows_of_before_have_the_columns_of_the_change(change: frame_changes.FrameChange) -> None:
    due = frame_changes.as_due(change, (1,))
    assert set(due) == {"k1", "k2", "k3", "k4"}
    assert all(set(columns) == set(change.columns) for columns in due.values())
    assert due["k1"] == change.columns
    assert change.columns != BASE or list(change.columns) != list(BASE)


def measured(folder: Path, *frames: tuple[str, str], expected: str) -> claim_measured.NotedPart:
    made = [
        ShownFrame("mine", "t", change, "some", wrote, "r", shown)
        for change, (wrote, shown) in zip((APPEND, "other"), frames, strict=False)
    ]
    text = "\n".join(json.dumps(asdict(each)) for each in made)
    (folder / "frames.jsonl").write_text(text, encoding="utf-8")
    return claim_measured.measured(FrameChanges("p", ("mine",), (expected,), (APPEND,)), folder)


@pytest.mark.parametrize(
    ("wrote", "shown", "came"),
    [
        (WRITTEN, RIGHT, claim_measured.READ),
        (WRITTEN, "no column d", claim_measured.NOT_READ),
        ("HoodieException: no", RIGHT, claim_measured.REFUSED),
    ],
)
def test_a_frame_was_refused_or_read_rightly_or_not(
    tmp_path: Path, wrote: str, shown: str, came: str
) -> None:
    found = measured(tmp_path, (wrote, shown), (WRITTEN, RIGHT), expected=came)
    assert dict(found.came) == {came: 1}
    assert found.standing is Standing.AGREES
    other = measured(tmp_path, (wrote, shown), expected="something else")
    assert other.standing is Standing.DIFFERS
