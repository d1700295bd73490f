from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.distribution import Artifact
from harness.artifacts.lock import coordinates

JAR = Artifact(coordinates("g:a:1:jar"), 3, "ab" * 32, "lib")


def held(root: Path) -> Cache:
    cache = Cache(root)
    path = cache.artifact(JAR)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"abc")
    cache.stamp(JAR)
    return cache


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path))
    assert Cache.default() == Cache(tmp_path)


def test_otherwise_it_is_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Cache.default().root.is_relative_to(tmp_path)
    assert Cache.default().root.name == "lake-table-harness"


def test_a_stamped_file_is_held(tmp_path: Path) -> None:
    assert held(tmp_path).holds(JAR)


def test_a_file_without_a_stamp_is_not_held(tmp_path: Path) -> None:
    cache = held(tmp_path)
    Path(f"{cache.artifact(JAR)}.ok").unlink()
    assert not cache.holds(JAR)


def test_a_stamp_without_its_file_is_not_held(tmp_path: Path) -> None:
    cache = held(tmp_path)
    cache.artifact(JAR).unlink()
    assert not cache.holds(JAR)


def test_a_file_that_changed_after_its_stamp_is_not_held(tmp_path: Path) -> None:
    cache = held(tmp_path)
    os.utime(cache.artifact(JAR), ns=(0, 0))
    assert not cache.holds(JAR)


def test_what_is_removed_leaves_nothing(tmp_path: Path) -> None:
    cache = held(tmp_path)
    cache.remove(JAR)
    assert list(cache.artifact(JAR).parent.iterdir()) == []


def test_a_workspace_is_empty_though_its_last_user_died_and_gone_afterwards(tmp_path: Path) -> None:
    left = tmp_path / ".making-home" / "half"
    left.mkdir(parents=True)
    with Cache(tmp_path).workspace(tmp_path / "home") as work:
        assert list(work.iterdir()) == []
        (work / "new").touch()
    assert list(tmp_path.iterdir()) == []
