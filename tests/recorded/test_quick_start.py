"""What the recording of the quick-start holds: no answer is lost on the way."""

import io
from collections import Counter
from pathlib import Path
from typing import Final

from harness.cli.output import PlainProgress
from harness.core.records import Responsible
from tests.builders import recordings, replay

VARIANTS: Final = recordings.read_all(Path(__file__).parent / "quick_start")
CELLS: Final = 1216


def test_the_recording_holds_the_whole_quick_start() -> None:
    assert sum(len(variant.answers) for variant in VARIANTS) == CELLS
    assert all(variant.answers.keys() <= variant.verdicts.keys() for variant in VARIANTS)
    assert all(answer is not None for variant in VARIANTS for answer in variant.answers.values())


def test_progress_counts_as_many_wrong_cells_as_there_are_in_the_end() -> None:
    out = io.StringIO()
    with PlainProgress(out).count("ask queries", CELLS) as cells:
        for variant in VARIANTS:
            kinds = replay.judged_twice(variant)[0].values()
            cells.count_result("", "answered", len(kinds))
            cells.judge(map(str, kinds))
    of_cells = (variant.verdicts[cell] for variant in VARIANTS for cell in variant.answers)
    at_last = Counter(of_cell["verdict"] for of_cell in of_cells)
    assert cells.judged == at_last
    assert out.getvalue().endswith(f"1,216 answered; {at_last['wrong']} wrong in all\n")


def test_the_recording_holds_every_kind_of_verdict_and_nothing_unexplained() -> None:
    verdicts = replay.counts(VARIANTS)
    assert verdicts["correct"] > 800
    assert verdicts["wrong"] > 200
    assert verdicts["refused"] > 50
    records = [verdict for variant in VARIANTS for verdict in variant.verdicts.values()]
    findings = [finding for verdict in records for finding in verdict.get("findings", ())]
    kinds = Counter(finding["kind"] for finding in findings)
    assert {"misaligned", "resurrected", "stale", "missing_rename", "lost_value"} <= kinds.keys()
    assert "unexplained" not in kinds
    assert {finding["party"] for finding in findings} == {Responsible.READER}
