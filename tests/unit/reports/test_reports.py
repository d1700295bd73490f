from __future__ import annotations

from pathlib import Path

import pytest

from harness import reports
from harness.core.errors import UsageProblem
from tests.builders import sample_run


def test_reports_are_found_by_their_files() -> None:
    assert {"github", "html", "junit", "markdown", "terminal"} <= set(reports.names())
    assert "words" not in reports.names(), "a module that several reports share"


@pytest.mark.parametrize("name", reports.names())
def test_every_report_goes_by_its_name_and_writes_a_file(name: str, tmp_path: Path) -> None:
    run = sample_run.make(tmp_path / "run")
    report = reports.load(name)
    assert name == report.NAME
    assert report.write(run, tmp_path).stat().st_size > 0


def test_an_unknown_report_is_wrong_use_and_names_what_is_there() -> None:
    with pytest.raises(UsageProblem, match=r"'pdf'; allowed: github, html, junit, "):
        reports.load("pdf")
