"""Files, folders and readers on the command line that cannot be are wrong use, told at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cli import app, plan_options
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.run import pipeline
from tests.builders.scenario_texts import MOVED

Capture = pytest.CaptureFixture[str]

WRONG_USE = 2
SERVICE = "hive-metastore-3.1.3"


@pytest.fixture(autouse=True)
def nothing_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "fetch_all", lambda *_: pytest.fail("it fetches"))


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(MOVED, encoding="utf-8")
    return path


def refused(capsys: Capture, *arguments: str) -> str:
    """Return what is said to somebody who used a command wrongly."""
    assert app.main(arguments) == WRONG_USE
    message = capsys.readouterr().err
    assert "Traceback" not in message
    return message


def test_cases_may_be_saved_with_a_byte_order_mark_and_blank_lines(mine: Path) -> None:
    every = plan_options.make([mine], "first", "").cells
    cases = mine.with_name("cases.txt")
    named = every[0].case, every[-1].case
    cases.write_bytes(b"\xef\xbb\xbf" + "\r\n \r\n".join((*named, "")).encode())
    made = plan_options.make([mine], "first", "", cases)
    assert tuple(cell.case for cell in made.cells) == named


def test_cases_come_from_a_file_and_nothing_else_is_waited_for(mine: Path) -> None:
    pipe = mine.with_name("pipe")
    os.mkfifo(pipe)
    for path in (pipe, mine.parent):
        with pytest.raises(UsageProblem, match="this is not a file; give a text file that names"):
            plan_options.make([mine], "first", "", path)
    with pytest.raises(UsageProblem, match="cannot be read: No such file"):
        plan_options.make([mine], "first", "", mine.with_name("none"))
    assert yaml_reader.MAX_BYTES < plan_options.CASES_BYTES


def test_a_file_of_cases_is_read_up_to_a_limit(mine: Path) -> None:
    cases = mine.with_name("cases.txt")
    cases.touch()
    os.truncate(cases, plan_options.CASES_BYTES + 1)
    with pytest.raises(UsageProblem, match=r"cases\.txt:1: the file is longer than 67108864 bytes"):
        plan_options.make([mine], "first", "", cases)


@pytest.mark.parametrize("command", ["run", "write"])
def test_a_run_folder_that_cannot_be_made_is_wrong_use(
    command: str, mine: Path, capsys: Capture
) -> None:
    expected = {
        str(mine): f"{mine} is not a folder; let --run-dir name one",
        "/proc/x": "the folder /proc/x cannot be made: ",
        str(mine / "x"): f"the folder {mine / 'x'} cannot be made: ",
    }
    for where, told in expected.items():
        message = refused(capsys, command, str(mine), "--profile", "first", "--run-dir", where)
        assert told in message
    Path("runs").touch()
    message = refused(capsys, command, str(mine), "--profile", "first")
    assert "the folder runs cannot be made: File exists; let --run-dir name" in message


@pytest.mark.parametrize("command", ["judge", "report", "read", "baseline update", "run --resume"])
def test_a_file_is_no_run(command: str, mine: Path, capsys: Capture) -> None:
    message = refused(capsys, *command.split(), "--run-dir", str(mine))
    assert f"{mine} is not a folder; let --run-dir name one" in message


def test_a_working_folder_that_is_gone_is_told(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    gone = mine.with_name("gone")
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    message = refused(capsys, "run", str(mine), "--profile", "first")
    assert "the current folder is gone; go to another one" in message


def test_what_only_serves_engines_is_no_reader_and_is_not_listed_as_one(
    mine: Path, capsys: Capture
) -> None:
    for name in (SERVICE, "trino-1"):
        with pytest.raises(
            UsageProblem, match=f"'{name}' is not a reader; allowed: .*trino-476"
        ) as at:
            plan_options.existing_reader(name)
        assert SERVICE not in str(at.value).partition("allowed")[2]
    profile = "mine: {scenarios: ['*'], formats: [hudi-cow], writers: [spark-3.5.8-hudi-0.15.0], "
    profile += f"readers: [{SERVICE}]}}\n"
    mine.with_name("profiles.yaml").write_text(profile, encoding="utf-8")
    assert f"'{SERVICE}' is not a reader" in refused(capsys, "plan", str(mine), "--profile", "mine")


@pytest.mark.parametrize(
    ("file", "told"), [(".", "is a folder"), ("", "is a folder"), ("a/b.tar", "no folder a for b")]
)
def test_a_file_that_cannot_be_written_is_told_before_anything_is_downloaded(
    file: str, told: str, mine: Path, capsys: Capture
) -> None:
    assert told in refused(capsys, "cache", "export", file, "--profile", "first", "--offline")


def test_a_cache_in_the_home_of_nobody_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", "~nosuchuser/x")
    assert "HARNESS_CACHE is ~nosuchuser/x: " in refused(capsys, "doctor")
