"""Standard output and error that are closed, full or read by nobody are never a finding."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import app
from harness.run import pipeline

RECORDED = Path(__file__).parents[3] / "recorded" / "findings_a5"
HARNESS = (sys.executable, "-m", "harness")
FULL = Path("/dev/full")
WRONG_USE, BROKEN = 2, 3


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    return folder


@pytest.mark.parametrize(
    ("command", "status", "how"),
    [
        ("judge", 1, "unread"),
        ("judge --show", 0, "unread"),
        ("--help", 0, "unread"),
        ("judge --show", 0, "closed"),
    ],
)
def test_who_does_not_listen_changes_no_status(
    command: str, status: int, how: str, recorded: Path
) -> None:
    words = command.split()
    words += ["--run-dir", str(recorded)] if words[0] == "judge" else []
    done = unread(words) if how == "unread" else closed(words)
    assert (done.returncode, done.stderr) == (status, "")


def unread(command: list[str]) -> subprocess.CompletedProcess[str]:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
        return subprocess.run(
            [*HARNESS, *command], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )


def closed(command: list[str]) -> subprocess.CompletedProcess[str]:
    shell = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *HARNESS, *command]
    return subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.parametrize("command", [["judge"], ["--help"]])
def test_output_that_cannot_be_written_is_the_machines_problem(
    command: list[str], recorded: Path
) -> None:
    if command[0] == "judge":
        command = [*command, "--run-dir", str(recorded)]
    with FULL.open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*HARNESS, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == BROKEN
    assert done.stderr.startswith("harness: cannot write standard output: the disk is full; ")
    assert len(done.stderr.splitlines()) == 1


def test_errors_that_cannot_be_told_have_their_status_all_the_same() -> None:
    with FULL.open("w", encoding="utf-8") as full:
        command = [*HARNESS, "judge", "--run-dir", "nowhere"]
        assert subprocess.run(command, stderr=full, check=False).returncode == WRONG_USE


@pytest.mark.parametrize("error", [BrokenPipeError(32, "Broken pipe"), EOFError()])
def test_what_ends_inside_a_command_is_no_finding(
    error: Exception,
    recorded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(_: Path) -> None:
        raise error

    monkeypatch.setattr(pipeline, "judge_run", broken)
    assert app.main(["judge", "--run-dir", str(recorded)]) == BROKEN
    assert "a defect of the harness" in capsys.readouterr().err


IMPORTING = """\
import importlib.abc, sys, threading
class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "harness.cli.app":
            print("importing", flush=True)
            threading.Event().wait()
sys.meta_path.insert(0, Slow())
from harness.__main__ import main
sys.exit(main())
"""


def test_an_interruption_while_the_program_is_loaded_is_one_too() -> None:
    command = [sys.executable, "-c", IMPORTING]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "importing\n"
        program.send_signal(signal.SIGINT)
        message = program.communicate()[1]
    assert (program.returncode, message) == (130, "harness: interrupted\n")
