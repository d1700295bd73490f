"""What a source claims of a reader, beside what a run saw of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.records import Finding, FindingKind, Party, Verdict, VerdictKind
from harness.reports.claims import NOT_ASKED, NOTHING_TOLD, WRITERS, Change, Claim, Claims, text_of
from harness.run.load_run import Run
from tests.recorded import sample

READER = sample.NAMES[5]
CHANGE = Change("hudi/move", 3, 3)


def claimed(*kinds: str) -> Claims:
    says = Claim("an engine", (READER,), {"move": "as said"}, {"move": kinds})
    return Claims("What is claimed", {"move": CHANGE}, (says,))


def by(verdict: Verdict, *parties: Party | None) -> Verdict:
    """Return a wrong verdict with a misaligned value of one party, and a lost one of the next."""
    kinds = (FindingKind.MISALIGNED, FindingKind.LOST_VALUE)
    place = verdict.findings[0].witness
    found = [
        Finding(kind, ("f1",), place, (place,), party)
        for kind, party in zip(kinds, parties, strict=False)
    ]
    return replace(verdict, findings=tuple(found))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return sample.make(tmp_path)


def told(run: Run, made: Claims, *parties: Party | None) -> str:
    wrong = {
        case: by(each, *parties)
        for case, each in run.recorded.items()
        if (each.scenario, each.step, each.reader) == ("hudi/move", 3, READER)
        and each.verdict is VerdictKind.WRONG
    }
    assert wrong
    spoilt = replace(run, recorded={**run.recorded, **wrong})
    return next(line for line in text_of(spoilt, made).splitlines() if "as said" in line)


@pytest.mark.parametrize("party", [None, Party.READER])
def test_a_readers_finding_agrees_with_the_claim_of_it(run: Run, party: Party | None) -> None:
    assert "**agrees**: misaligned" in told(run, claimed("misaligned"), party)
    assert "**differs**: misaligned" in told(run, claimed("correct"), party)


def test_a_claim_about_a_reader_is_not_confirmed_by_what_the_writer_did(run: Run) -> None:
    line = told(run, claimed("misaligned"), Party.WRITER)
    assert f"**{NOTHING_TOLD}**: {WRITERS}" in line
    assert "misaligned" not in line


def test_nor_is_it_refuted_by_that(run: Run) -> None:
    line = told(run, claimed("misaligned"), Party.READER, Party.WRITER)
    assert "**agrees**: misaligned (" in line
    assert "lost_value" not in line


def test_a_reader_that_was_not_asked_is_said_to_be_none(run: Run) -> None:
    made = replace(claimed("correct"), changes={"move": Change("hudi/other", 1, 2)})
    assert NOT_ASKED in text_of(run, made)
