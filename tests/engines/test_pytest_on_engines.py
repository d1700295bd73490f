"""`pytest scenarios/…` with real engines and two workers: the tests say what the verdicts say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import junitparser
import pytest

pytestmark = [pytest.mark.engines, pytest.mark.alone]

ROOT = Path(__file__).parents[2]


def test_every_cell_of_the_first_profile_is_a_test_with_its_verdict(tmp_path: Path) -> None:
    run, xml = tmp_path / "run", tmp_path / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "scenarios/", "-n", "2", "-p", "no:cacheprovider"]
    options = ["--harness-profile", "first", "--harness-run-dir", str(run), "--junitxml", str(xml)]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    lines = (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = {each["case"]: each["verdict"] for each in map(json.loads, lines)}
    cases = [case for suite in junitparser.JUnitXml.fromfile(str(xml)) for case in suite]
    failed = {case.name.removeprefix("cell[").removesuffix("]") for case in cases if case.result}
    assert len(cases) == len(verdicts) > 20
    assert failed == {case for case, verdict in verdicts.items() if verdict != "correct"}
    assert failed
    assert all("use-column-names=false" in case for case in failed)
    assert "misaligned: in row" in done.stdout
