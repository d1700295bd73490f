"""Signals end the program at once; streams that are closed, full or unread are never a finding."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import app, process
from harness.cli.process import ending_at_once
from harness.run import pipeline

HARNESS = (sys.executable, "-m", "harness")
WRONG_USE, BROKEN = 2, 3


def test_who_ends_reading_early_changes_no_status(recorded: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*HARNESS, "judge", "--run-dir", str(recorded)]
    with open(writing, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "harness judge begins\n")


def test_a_closed_stream_changes_no_status() -> None:
    shell = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *HARNESS, "--help"]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_cannot_be_written_is_the_machines_problem(recorded: Path) -> None:
    command = [*HARNESS, "judge", "--run-dir", str(recorded)]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == BROKEN
    _, problem = done.stderr.splitlines()
    assert problem.startswith("harness: cannot write standard output: the disk is full; ")


def test_errors_that_cannot_be_written_have_their_status_all_the_same() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [*HARNESS, "judge", "--run-dir", "nowhere"]
        assert subprocess.run(command, stderr=full, check=False).returncode == WRONG_USE


@pytest.mark.parametrize(
    ("options", "line"), [((), "harness plan begins\n"), (("--json",), ""), (("--quiet",), "")]
)
def test_a_log_says_at_once_which_command_begins(options: tuple[str, ...], line: str) -> None:
    command = [*HARNESS, "plan", "nowhere.yaml", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.startswith(line)
    assert ("begins" in done.stderr) == bool(line)


def test_each_command_does() -> None:
    assert all(map(process.TELLING.fullmatch, app.COMMANDS))


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
            print("ready", flush=True)
            threading.Event().wait()
sys.meta_path.insert(0, Slow())
from harness.__main__ import main
sys.exit(main())
"""
WAITING = """\
import threading
from harness.cli.process import ending_at_once
with ending_at_once(lambda status: print("ended", status, flush=True)):
    print("ready", flush=True)
    threading.Event().wait()
"""
COMMAND = """\
import threading
from harness.cli.output import Output
with Output(json=True).ending():
    print("ready", flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize(
    ("program", "number", "out", "error"),
    [
        (IMPORTING, signal.SIGINT, "", "harness: interrupted\n"),
        (WAITING, signal.SIGTERM, "ended 143\n", ""),
        (
            COMMAND,
            signal.SIGINT,
            '{"event": "end", "status": 130, "problem": "interrupted"}\n',
            "harness: interrupted\n",
        ),
    ],
    ids=["while it is loaded", "anywhere", "in a command"],
)
def test_a_signal_ends_the_program_at_once(
    program: str, number: signal.Signals, out: str, error: str
) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        assert running.communicate() == (out, error)
    assert running.returncode == 128 + number


def test_afterwards_signals_mean_what_they_meant_and_an_ignored_one_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN), signal.getsignal(signal.SIGINT)
    try:
        with ending_at_once(lambda _: None):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is not before[1]
        assert signal.getsignal(signal.SIGINT) is before[1]
    finally:
        signal.signal(signal.SIGTERM, before[0])
