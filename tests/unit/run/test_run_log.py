"""Every command that works on a run leaves in its folder what it did, and what broke."""

import re
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from harness.cli import app
from harness.cli.explain import command as explained
from harness.core import jsonl
from harness.core.records import Answer, Attempt, StateRecord, VerdictKind
from harness.read import read_states
from harness.reports import cause_texts, html, junit
from harness.reports.words import NOT_WORDED
from harness.run import load_run, pipeline, run_log
from harness.scenario.cells import Plan
from harness.write import write_variants
from harness.write.state_records import VariantResult

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"
UNKNOWN = 3
WRONG_USE = 2
SECRET = "canary-5d2e"  # noqa: S105 - that is the point


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    return folder


@pytest.fixture
def resumable(run: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run that can be gone on with: its engines are simulated by its records."""
    states = tuple(jsonl.read_all(run / load_run.STATES, StateRecord))
    answers = {answer.case: answer for answer in jsonl.read_all(run / load_run.ANSWERS, Answer)}
    (run / load_run.ANSWERS).write_bytes(b"")
    attempt = Attempt("connection lost")

    def write(*_: object) -> Generator[VariantResult, None, None]:
        yield VariantResult(states, {})

    def read(plan: Plan, *_: object) -> Generator[Answer, None, None]:
        first, *rest = plan.cells
        yield Answer(first.case, "", unknown="the server died", attempts=(attempt,))
        for cell in rest:
            yield answers[cell.case]

    monkeypatch.setattr(pipeline, "fetch_all", lambda *_: None)
    monkeypatch.setattr(write_variants, "write", write)
    monkeypatch.setattr(read_states, "read", read)
    monkeypatch.setattr(pipeline, "states_of", lambda *_: {})
    return run


def log(folder: Path) -> str:
    return (folder / run_log.LOG).read_text(encoding="utf-8")


def records(text: str) -> list[tuple[str, str]]:
    """Return level and message of each line that begins a record."""
    line = re.compile(
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z (\w+) harness\S*: (.*)$", re.MULTILINE
    )
    return line.findall(text)


def test_judging_logs_its_phase_and_the_next_command_adds_to_the_log(run: Path) -> None:
    for _ in range(2):
        assert app.main(["judge", "--run-dir", str(run)]) == 1
    lines = [message for _, message in records(log(run))]
    assert lines[:2] == [lines[3], "judge: begun"]
    assert lines[2].startswith("judge: over after ")
    assert len(lines) == 6


def test_a_folder_that_is_no_run_gets_no_log(tmp_path: Path) -> None:
    for command in ("report", "baseline update", "explain x"):
        assert app.main([*command.split(), "--run-dir", str(tmp_path)]) == WRONG_USE
    assert not list(tmp_path.iterdir())


def test_a_run_logs_its_phases_its_retries_and_what_is_unknown(resumable: Path) -> None:
    assert app.main(["run", "--resume", "--run-dir", str(resumable)]) == UNKNOWN
    result = records(log(resumable))
    assert {"write: begun", "read: begun", "judge: begun"} <= {message for _, message in result}
    (warned,) = [message for level, message in result if level == "WARNING"]
    case = warned.removesuffix(": unknown: the server died")
    assert case != warned
    assert ("INFO", f"{case}: no answer at one try: connection lost") in result


def test_what_breaks_off_a_command_is_logged_with_its_traceback(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(folder: Path) -> None:
        raise ZeroDivisionError(folder)

    monkeypatch.setattr(pipeline, "judge_run", broken)
    assert app.main(["judge", "--run-dir", str(run)]) == UNKNOWN
    assert ("ERROR", "broken off") in records(log(run))
    assert "Traceback (most recent call last):" in log(run)
    assert log(run).rstrip().endswith(f"ZeroDivisionError: {run}")
    assert "a defect of the harness" in capsys.readouterr().err


def test_no_login_of_an_address_reaches_the_log(tmp_path: Path) -> None:
    def fetch() -> None:
        raise OSError(f"no answer from https://me:{SECRET}@repo.example/m")

    with run_log.run_log(tmp_path):
        run_log.HARNESS.info("from https://me:%s@repo.example/m", SECRET)
    with pytest.raises(OSError, match=SECRET), run_log.run_log(tmp_path):
        fetch()
    assert "no answer from https://repo.example/m" in log(tmp_path)
    assert "from https://repo.example/m" in log(tmp_path)
    assert SECRET not in log(tmp_path)


def test_a_log_that_cannot_be_written_breaks_nothing_off(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / run_log.LOG).symlink_to("/dev/full")
    assert app.main(["judge", "--quiet", "--run-dir", str(run)]) == 1
    assert not capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "explain"])
def test_what_cannot_be_worded_later_is_in_the_log_of_the_run_and_ends_nothing(
    command: str, run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["judge", "--run-dir", str(run), "--quiet"]) != UNKNOWN
    wrong = (
        verdict for verdict in load_run.load(run).verdicts if verdict.verdict is VerdictKind.WRONG
    )
    case = [next(wrong).case] if command == "explain" else []
    assert app.main([command, *case, "--run-dir", str(run)]) == 0
    assert "cannot word" not in log(run)
    for module in (cause_texts, html, junit, explained):
        monkeypatch.setattr(module, "witness_text", lambda *_: 1 / 0, raising=False)
    capfd.readouterr()
    assert app.main([command, *case, "--run-dir", str(run)]) == 0
    capture_result = capfd.readouterr()
    assert NOT_WORDED in " ".join(capture_result.out.split())
    assert "Traceback" not in capture_result.err
    assert "harness.reports: cannot word" in log(run)
    assert "ZeroDivisionError" in log(run)
