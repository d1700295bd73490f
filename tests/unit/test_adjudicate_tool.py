"""`tools/adjudicate.py` counts readers known to be right, and lists what they got wrong."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.recorded import sample

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def adjudicate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("adjudicate")


def test_until_the_first_schema_change_every_reader_counts(
    adjudicate: ModuleType, tmp_path: Path
) -> None:
    found = sample.make(tmp_path)
    early = [
        verdict
        for verdict in found.verdicts
        if not any(
            step.changes_schema and step.number <= verdict.step
            for step in found.variants[verdict.variant].steps
        )
    ]
    assert early
    head, _, *groups = adjudicate.good(found)
    assert head.startswith("| known to be right | correct | wrong |")
    line = next(each for each in groups if each.startswith("| before any schema change |"))
    assert sum(int(each) for each in line.split("|")[2:-1]) == len(early)


def test_what_is_not_correct_among_them_is_listed_by_its_case(
    adjudicate: ModuleType, tmp_path: Path
) -> None:
    found = sample.make(tmp_path)
    listed = [each for each in adjudicate.good(found) if not each.startswith("|")]
    named = {verdict.case: verdict.verdict for verdict in found.verdicts}
    assert listed
    for each in listed:
        kind, _, rest = each.partition(": ")
        assert kind != "correct"
        assert named[rest.rpartition(" (")[0]] == kind
