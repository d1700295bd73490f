"""A session with HiveServer2, as far as it needs no server."""

from __future__ import annotations

import os

import pytest

from harness.engines.hive.client import session_user


def test_a_user_without_a_name_is_called_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 98765)
    assert session_user() == "98765"
    monkeypatch.setenv("LOGNAME", "somebody")
    assert session_user() == "somebody"
