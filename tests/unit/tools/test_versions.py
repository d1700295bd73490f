"""`tools/measure/versions.py` shows what each reader makes of each writer's tables."""

from __future__ import annotations

import re
from pathlib import Path

from tests.builders import sample_run
from tools.measure import versions


def test_every_cell_is_counted_once(tmp_path: Path) -> None:
    found = sample_run.make(tmp_path)
    lines = list(versions.page(found))
    rows = [line for line in lines if line.startswith("| `")]
    counted = sum(int(each) for row in rows for each in re.findall(r"\((\d+)\)", row))
    assert counted == len(found.verdicts)
    assert [line for line in lines if line.startswith("## ")]
    assert len([line for line in lines if line.startswith("- `")]) == len(found.info.readers)


def test_what_is_wrong_is_called_by_its_findings(tmp_path: Path) -> None:
    found = sample_run.make(tmp_path)
    said = {versions.word(each) for each in found.verdicts}
    kinds = {f"{f.kind}" for each in found.verdicts for f in each.findings}
    assert "correct" in said
    assert any(kind in each for kind in kinds for each in said if each.startswith("**"))
