"""Signals end the program at once, with the status of a program that a signal ended."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from harness.cli.process import ending_at_once

PROGRAM = (
    "import signal, threading\n"
    "from harness.cli.signals import ending_at_once\n"
    "with ending_at_once(lambda status: print('ended', status, flush=True)):\n"
    "    print('ready', flush=True)\n"
    "    threading.Event().wait()\n"
)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_program_at_once_and_says_how_to_go_on(
    number: signal.Signals, status: int
) -> None:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(number)
        assert program.stdout.read() == f"ended {status}\n"
    assert program.returncode == status


def test_afterwards_signals_mean_what_they_meant() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ending_at_once(lambda _: None):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with ending_at_once(lambda _: None):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
