"""`tools/claims.py` sets what a source claims of a reader beside what a run saw of it."""

from __future__ import annotations

import importlib
import shutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from harness.core.parties import Party
from harness.core.records import Finding, FindingKind, Verdict, VerdictKind
from harness.run import pipeline
from harness.run.load_run import Run
from tests.recorded import sample

ROOT = Path(__file__).parents[3]
READER = sample.NAMES[5]


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("claims")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return sample.make(tmp_path)


def text_of(claims: ModuleType, run: Run, *kinds: str, scenario: str = "hudi/move") -> str:
    """Return the table of one claim, of a change in step 3 of a scenario."""
    claim = claims.Claim("an engine", (READER,), {"move": "as said"}, {"move": kinds})
    change = claims.Change(scenario, 3, 3)
    return str(claims.text_of(run, claims.Claims("What is claimed", {"move": change}, (claim,))))


def by(verdict: Verdict, *parties: Party | None) -> Verdict:
    """Return a wrong verdict with a misaligned value of one party, and a lost one of the next."""
    kinds = (FindingKind.MISALIGNED, FindingKind.LOST_VALUE)
    place = verdict.findings[0].witness
    found = [
        Finding(kind, ("f1",), place, (place,), party)
        for kind, party in zip(kinds, parties, strict=False)
    ]
    return replace(verdict, findings=tuple(found))


def told(claims: ModuleType, run: Run, kind: str, *parties: Party | None) -> str:
    """Return the line of a claim that a kind is seen, where findings are of these parties."""
    wrong = {
        case: by(each, *parties)
        for case, each in run.recorded.items()
        if (each.scenario, each.step, each.reader) == ("hudi/move", 3, READER)
        and each.verdict is VerdictKind.WRONG
    }
    assert wrong
    spoilt = replace(run, recorded={**run.recorded, **wrong})
    return next(e for e in text_of(claims, spoilt, kind).splitlines() if "as said" in e)


@pytest.mark.parametrize("party", [None, Party.READER])
def test_a_readers_finding_agrees_with_the_claim_of_it(
    claims: ModuleType, run: Run, party: Party | None
) -> None:
    assert "**agrees**: misaligned" in told(claims, run, "misaligned", party)
    assert "**differs**: misaligned" in told(claims, run, "correct", party)


def test_a_claim_about_a_reader_is_not_confirmed_by_what_the_writer_did(
    claims: ModuleType, run: Run
) -> None:
    line = told(claims, run, "misaligned", Party.WRITER)
    assert f"**{claims.NOTHING_TOLD}**: {claims.WRITERS}" in line
    assert "misaligned" not in line


def test_nor_is_it_refuted_by_that(claims: ModuleType, run: Run) -> None:
    line = told(claims, run, "misaligned", Party.READER, Party.WRITER)
    assert "**agrees**: misaligned (" in line
    assert "lost_value" not in line


def test_a_reader_that_was_not_asked_is_said_to_be_none(claims: ModuleType, run: Run) -> None:
    assert claims.NOT_ASKED in text_of(claims, run, "correct", scenario="hudi/other")


def test_the_claims_that_are_shipped_are_set_beside_a_recorded_run(
    claims: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ROOT / "tests" / "recorded" / "findings_a5", folder)
    pipeline.judge_run(folder)
    monkeypatch.setattr("sys.argv", ["claims.py", str(folder)])
    assert claims.main() == 0
    text = capsys.readouterr().out
    assert "| Spark > 3.1, schema-on-read on |" in text
    assert "**agrees**: missing_rename" in text
    assert "**differs**" in text
