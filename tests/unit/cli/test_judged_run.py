"""How a command that judges ends: its status, and what GitHub is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import runs
from harness.cli.output import Output
from harness.cli.runs import Ending
from harness.core.records import VerdictKind
from harness.judge.baseline import Applied
from harness.run import run_judge
from harness.run.load_run import Run
from harness.run.pipeline import JudgedRun
from tests.builders import sample_run

SUMMARY = "GITHUB_STEP_SUMMARY"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv(runs.ON_GITHUB, raising=False)
    monkeypatch.setenv(SUMMARY, str(tmp_path / "step"))
    return sample_run.make(tmp_path / "run")


def wrong(run: Run) -> JudgedRun:
    """Return what is wrong of a run, and nothing that is unknown."""
    verdicts = (e for e in run.verdicts if e.verdict is VerdictKind.WRONG and not e.known)
    return JudgedRun(run, Applied(tuple(verdicts)))


def late(run: Run) -> JudgedRun:
    (case, *_) = run_judge.late(run)
    return JudgedRun(
        run, Applied(tuple(verdict for verdict in run.verdicts if verdict.case == case))
    )


def test_show_ends_with_0_and_a_flaky_cell_fails_only_where_that_is_wanted(run: Run) -> None:
    quiet = Output(quiet=True)
    assert runs.end_judged(wrong(run), quiet, Ending()) == 1
    assert runs.end_judged(wrong(run), quiet, Ending(show=True)) == 0
    assert runs.end_judged(late(run), quiet, Ending()) == 0
    assert runs.end_judged(late(run), quiet, Ending(fail_on_flaky=True)) == 1


@pytest.mark.parametrize(
    ("variable", "option", "told"),
    [
        (None, None, False),
        ("true", None, True),
        ("false", None, False),
        ("true", False, False),
        (None, True, True),
    ],
)
def test_github_is_told_where_it_runs_the_command_or_as_the_option_says(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    variable: str | None,
    option: bool | None,
    told: bool,
) -> None:
    if variable:
        monkeypatch.setenv(runs.ON_GITHUB, variable)
    runs.end_judged(wrong(run), Output(quiet=True), Ending(github=option))
    assert (tmp_path / "step").exists() == told
    assert ("::error " in capsys.readouterr().out) == told


def test_what_does_not_fail_is_told_as_warnings_but_not_called_right(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = Ending(show=True, github=True)
    runs.end_judged(wrong(run), Output(quiet=True), ending)
    out = capsys.readouterr().out
    assert "::warning " in out
    assert "::error " not in out
    assert "something is new" in (tmp_path / "step").read_text("utf-8")


def test_a_program_reads_only_json_and_github_the_other_stream(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.end_judged(late(run), Output(json=True), Ending(github=True))
    capture_result = capsys.readouterr()
    (end,) = map(json.loads, capture_result.out.splitlines())
    assert (end["status"], end["flaky"]) == (0, 1)
    assert "::warning " in capture_result.err


def test_a_summary_that_cannot_be_written_changes_no_status(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(SUMMARY, str(tmp_path / "none" / "step"))
    ending = Ending(github=True)
    assert runs.end_judged(late(run), Output(quiet=True), ending) == 0
    capture_result = capsys.readouterr()
    assert "the summary of the job is not written: No such file" in capture_result.err
    assert "::warning " in capture_result.out, "the annotations are there"
