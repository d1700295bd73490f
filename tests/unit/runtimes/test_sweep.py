from __future__ import annotations

import os
from pathlib import Path

from harness.runtimes.cache import Cache
from harness.runtimes.sweep import sweep


def half_made(cache: Cache, name: str) -> Path:
    folder = cache.root / "states" / f".making-{name}"
    (folder / "state" / "table").mkdir(parents=True)
    (folder / "state" / "table" / "file").touch()
    (folder / "state" / "table").chmod(0o555)
    return folder


def test_what_the_dead_were_making_is_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    left = half_made(cache, "a")
    assert sweep(cache) == (left,)
    assert not left.exists()


def test_what_a_live_harness_is_making_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    made = half_made(cache, "a")
    with cache.lock(made.with_name("a")):
        assert sweep(cache) == ()
    assert made.exists()


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
