"""A check that fails says nothing of any other cell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import Answer, FindingKind, VerdictKind
from harness.judge import name
from harness.judge.verdicts import judge
from tests.builders.judged_story import case_without_values, cell_at
from tests.builders.table_story import history


def test_a_check_that_fails_makes_one_cell_unknown_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> bool:
        raise ZeroDivisionError("in a check")

    story = history("insert 1,2; rename f1 f1_new")
    whole = story.read()
    wrong = replace(whole, rows=tuple((*row[:2], None, *row[3:]) for row in whole.rows))
    cells = [cell_at(story), replace(cell_at(story), reader="engine-2")]
    replies = (wrong, whole)
    answers = {
        cell.case: Answer(cell.case, "select", each.columns, each.rows)
        for cell, each in zip(cells, replies, strict=True)
    }
    monkeypatch.setattr(name, "CHECKS", {FindingKind.UNEXPLAINED: fails})
    found = judge(case_without_values(story), cells, answers)
    assert [(each.verdict, each.because) for each in found] == [
        (VerdictKind.UNKNOWN, "harness: ZeroDivisionError: in a check"),
        (VerdictKind.CORRECT, ""),
    ]
    (record,) = caplog.records
    assert (record.name, record.exc_info is not None) == ("harness.judge", True)
