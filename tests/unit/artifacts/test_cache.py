from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.distribution import Artifact, coordinates
from harness.core.errors import EnvironmentProblem

JAR = Artifact(coordinates("g:a:1:jar"), 3, "ab" * 32, "lib")


def with_jar(root: Path) -> Cache:
    cache = Cache(root)
    path = cache.artifact(JAR)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"abc")
    cache.stamp(JAR)
    return cache


def test_the_environment_names_the_folder_or_it_is_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path))
    assert Cache.default() == Cache(tmp_path)
    monkeypatch.delenv(ENVIRONMENT_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Cache.default().root.is_relative_to(tmp_path)
    assert Cache.default().root.name == "lake-table-harness"


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (lambda path: None, True),
        (lambda path: Path(f"{path}.ok").unlink(), False),
        (lambda path: path.unlink(), False),
        (lambda path: os.utime(path, ns=(0, 0)), False),
    ],
    ids=["stamped", "without a stamp", "without the file", "changed after its stamp"],
)
def test_a_cache_has_a_file_as_long_as_it_is_as_it_was_stamped(
    tmp_path: Path, change: Callable[[Path], None], *, holds: bool
) -> None:
    cache = with_jar(tmp_path)
    change(cache.artifact(JAR))
    assert cache.holds(JAR) is holds
    cache.remove(JAR)
    assert list(cache.artifact(JAR).parent.iterdir()) == []


def test_a_workspace_is_empty_though_its_last_user_died_and_gone_afterwards(tmp_path: Path) -> None:
    left = tmp_path / ".making-home" / "half"
    left.mkdir(parents=True)
    with Cache(tmp_path).workspace(tmp_path / "home") as work:
        assert list(work.iterdir()) == []
        (work / "new").touch()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_made_once_and_whole(tmp_path: Path) -> None:
    def make(work: Path) -> Path:
        (work / "new").mkdir()
        return work / "new"

    def fail(_: Path) -> Path:
        raise OSError(28, "No space left on device")

    cache, home = Cache(tmp_path), tmp_path / "home"
    with pytest.raises(EnvironmentProblem, match="the disk is full"):
        cache.make_once(home, fail)
    assert not home.exists()
    assert cache.make_once(home, make) == cache.make_once(home, fail) == home
    assert home.is_dir()
