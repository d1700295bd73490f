"""Answers that are recorded are known to the evidence with the verdicts that they have today."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from harness.comparison import evidence
from harness.core.records import Verdict
from tests.builders import recordings

ROOTS: Final = [path for path in Path(__file__).parent.iterdir() if recordings.folders(path)]
ENOUGH: Final = 1_000
"""So many recorded answers at least are in the evidence too."""


def test_the_evidence_was_judged_as_answers_are_judged_today() -> None:
    known = evidence.opened(evidence.FILE)
    shown = {
        verdict.case: of_verdict(verdict)
        for source in known.sources
        for reader in filter(None, source.members)
        for verdict, _ in known.cells(source, reader)
    }
    recorded = {
        cell.case: of_record(record)
        for root in ROOTS
        for variant in recordings.read_all(root)
        for cell, record in variant.verdicts.items()
        if cell.case in shown
    }
    assert len(recorded) > ENOUGH
    other = {case: (shown[case], now) for case, now in recorded.items() if shown[case] != now}
    assert not other, (
        "raise `MODEL` in evidence.py, and build the evidence anew (tools/evidence.py)"
    )


def of_verdict(verdict: Verdict) -> tuple[str, list[str]]:
    return str(verdict.verdict), sorted({str(finding.kind) for finding in verdict.findings})


def of_record(record: Mapping[str, Any]) -> tuple[str, list[str]]:
    return record["verdict"], sorted({finding["kind"] for finding in record.get("findings", ())})
