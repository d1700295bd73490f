from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.artifacts.cache_sweep import sweep

FOLDERS = pytest.mark.parametrize("below", ["states", "unpacked", "jre", ""])
"""A parcel on its way lies in the cache's own folder."""
ARCHIVES = pytest.mark.parametrize("name", [".making-x.jsa", ".making-x.jsa.temp"])
"""An archive of classes is one file; Java names it otherwise while it writes."""


def half_made(cache: Cache, name: str, below: str = "states") -> Path:
    folder = cache.root / below / f".making-{name}"
    (folder / "state" / "table").mkdir(parents=True)
    (folder / "state" / "table" / "file").touch()
    (folder / "state" / "table").chmod(0o555)
    return folder


@FOLDERS
def test_what_the_dead_were_making_is_removed(below: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    left = half_made(cache, "a", below)
    assert sweep(cache) == (left,)
    assert not left.exists()


@FOLDERS
def test_what_a_live_harness_is_making_stays(below: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    made = half_made(cache, "a", below)
    with cache.lock(made.with_name("a")):
        assert sweep(cache) == ()
    assert made.exists()


@ARCHIVES
def test_an_archive_of_classes_that_the_dead_were_making_is_removed(
    name: str, tmp_path: Path
) -> None:
    cache = Cache(tmp_path)
    cache.archives().mkdir()
    half, whole = cache.archives() / name, cache.archives() / "x.jsa"
    half.touch()
    whole.touch()
    with cache.lock(whole):
        assert sweep(cache) == ()
    assert half.exists()
    assert sweep(cache) == (half,)
    assert not half.exists()
    assert whole.exists()


def test_what_is_there_stays_and_so_does_a_transfer_that_broke_off(tmp_path: Path) -> None:
    kept = [tmp_path / "states" / "a" / "state.json", tmp_path / "artifacts" / "x" / "a.jar.part"]
    for path in kept:
        path.parent.mkdir(parents=True)
        path.touch()
    assert sweep(Cache(tmp_path)) == ()
    assert all(path.exists() for path in kept)


def test_of_answers_being_written_only_the_old_ones_are_the_deads(tmp_path: Path) -> None:
    parts = tmp_path / "answers" / "parts"
    parts.mkdir(parents=True)
    old, new = parts / "old.json", parts / "new.json"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    assert sweep(Cache(tmp_path)) == (old,)
    assert new.exists()


def test_an_empty_cache_has_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep(Cache(tmp_path / "none")) == ()
