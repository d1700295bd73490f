"""A run's baselines are found where its scenario files are: where they were, or in a clone."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.run import baseline_files, plan_record
from harness.run.load_run import RunInfo
from harness.scenario.cells import Plan
from tests import ci_page

KNOWN = "my/orders/rename.known.yaml"
LINE = """\
- when: {{engine: trino}}
  expect: {{finding: missing_rename, columns: [amount]}}
  support: notyet
  because: {}
"""


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RunInfo, Plan]:
    """A run planned in a repository that is elsewhere since, in the folder `clone`."""
    for name in ci_page.OWN:
        (tmp_path / "first" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "first" / name).write_text(ci_page.FILES[name], encoding="utf-8")
    (tmp_path / "first" / KNOWN).write_text(LINE.format("then"), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "first")
    plan = plan_options.make([Path("my")], "nightly", "")
    info = plan_record.info_of(plan, "x", datetime.datetime.now(datetime.UTC))
    (tmp_path / "first").rename(tmp_path / "clone")
    (tmp_path / "clone" / KNOWN).write_text(LINE.format("now"), encoding="utf-8")
    return info, plan


@pytest.mark.parametrize(("folder", "because"), [("clone", "now"), (".", "then")])
def test_in_a_clone_its_own_baseline_counts_and_elsewhere_what_the_run_remembers(
    planned: tuple[RunInfo, Plan],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    because: str,
) -> None:
    monkeypatch.chdir(tmp_path / folder)
    (line,) = baseline_files.lines(*planned)["orders/rename"]
    assert line.because == because
