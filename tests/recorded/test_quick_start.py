"""What the recording of the quick-start holds: no answer is lost on the way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from harness.record import Party
from tests.recorded import replay, store

VARIANTS: Final = store.read_all(Path(__file__).parent / "quick_start")
CELLS: Final = 1216


def test_the_recording_holds_the_whole_quick_start() -> None:
    assert sum(len(each.answers) for each in VARIANTS) == CELLS
    assert all(each.answers.keys() <= each.verdicts.keys() for each in VARIANTS)
    assert all(answer is not None for each in VARIANTS for answer in each.answers.values())


def test_the_recording_holds_every_kind_of_verdict_and_nothing_unexplained() -> None:
    verdicts = replay.counts(VARIANTS)
    assert verdicts["correct"] > 800
    assert verdicts["wrong"] > 200
    assert verdicts["refused"] > 50
    said = [said for each in VARIANTS for said in each.verdicts.values()]
    findings = [finding for each in said for finding in each.get("findings", ())]
    kinds = Counter(finding["kind"] for finding in findings)
    assert {"misaligned", "resurrected", "stale", "missing_rename", "lost_value"} <= kinds.keys()
    assert "unexplained" not in kinds
    assert {finding["party"] for finding in findings} == {Party.READER}
