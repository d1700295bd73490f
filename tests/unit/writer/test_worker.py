"""The worker that holds a JVM, where it needs none."""

from __future__ import annotations

import os
import sys

import pytest
from py4j.protocol import Py4JNetworkError

from harness.writer import worker


def lost() -> Exception:
    """Give what Py4J raises when the JVM is gone: with its cause it is many lines."""
    problem: Exception = Py4JNetworkError("nobody is there")
    problem.__cause__ = ConnectionRefusedError("refused")
    return problem


def test_what_a_jvm_said_last_stays_at_the_end_of_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        worker._problem(lost())
    assert ended.value.code == 1
    assert capsys.readouterr().err == "py4j.protocol.Py4JNetworkError: nobody is there\n"
