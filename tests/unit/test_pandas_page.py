"""The code of docs/pandas.md is run, in its order, on runs that are made by hand."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

from harness.cli import runs
from harness.comparison import history
from harness.core import jsonl
from harness.core.records import VerdictKind
from harness.run import load_run
from tests.builders import sample_run

PAGE: Final = Path(__file__).parents[2] / "docs" / "pandas.md"
CODE: Final = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
NAMED: Final = re.compile(r"^\| (`.*?`) \|", re.MULTILINE)


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the page where two runs are, of which the second has one wrong answer less."""
    monkeypatch.chdir(tmp_path)
    before = sample_run.make(Path("runs/before"))
    after = sample_run.make(Path("runs/after"))
    info = replace(after.info, id="after", started=after.info.started + timedelta(days=1))
    load_run.write_info(after.folder, info)
    first = next(verdict for verdict in after.verdicts if verdict.verdict is VerdictKind.WRONG)
    right = replace(first, verdict=VerdictKind.CORRECT, findings=())
    results = [
        right if verdict.case == first.case else verdict for verdict in after.recorded.values()
    ]
    jsonl.write_all(after.folder / load_run.VERDICTS, results)
    for folder in (before.folder, after.folder):
        runs.store(load_run.load(folder), history.USUAL)
    names: dict[str, Any] = {}
    for block in CODE:
        exec(block, names)  # noqa: S102 - the page is ours
    return names


def test_every_table_of_the_page_has_rows(done: dict[str, Any]) -> None:
    frames = {name: frame for name, frame in done.items() if isinstance(frame, pd.DataFrame)}
    assert {"frame", "answered", "shares", "wrong", "turned", "turns", "last", "now"} == set(frames)
    assert [name for name, frame in frames.items() if frame.empty] == []


def test_the_page_finds_what_turned(done: dict[str, Any]) -> None:
    assert done["turned"].change.value_counts()["fixed"] == 1
    assert list(done["last"].change) == ["fixed"]
    assert done["last"].run.unique().tolist() == ["after"]


def test_the_page_names_every_column_of_a_run(done: dict[str, Any]) -> None:
    named = re.findall(r"`(\w+)`", " ".join(NAMED.findall(PAGE.read_text(encoding="utf-8"))))
    assert sorted(named) == sorted(done["frame"].columns)
