from __future__ import annotations

import os
from pathlib import Path

from harness.artifacts import cache_prune
from harness.artifacts.cache import Cache

OLD, NOW = 1_000_000, 2_000_000
ONE, TWO = f"{OLD:064}.json", f"{NOW:064}.json"
OLD_STATE, NEW_STATE = "a" * 64, "b" * 64


def filled(root: Path) -> Cache:
    """Make a cache with an old and a new state and answer each, and a jar with two names."""
    for name, when in ((OLD_STATE, OLD), (NEW_STATE, NOW), (f"{OLD_STATE}.changed-12", OLD)):
        folder = root / "states" / name / "table"
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"1234")
        folder.chmod(0o555)
        os.utime(folder.parent, (when, when))
        folder.parent.chmod(0o555)
    for name, when in ((ONE, OLD), (TWO, NOW)):
        path = root / "answers" / "aa" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
        os.utime(path, (when, when))
    jar, other = (root / name / ("d" * 16) / "a.jar" for name in ("artifacts", "unpacked"))
    for each in (jar, other):
        each.parent.mkdir(parents=True)
    jar.write_bytes(b"jar")
    other.hardlink_to(jar)
    return Cache(root)


def test_a_file_with_two_names_takes_its_place_once(tmp_path: Path) -> None:
    found = {
        each.name: (each.files, each.size) for each in cache_prune.kept(filled(tmp_path / "c"))
    }
    assert found == {"answers": (2, 4), "artifacts": (1, 3), "states": (3, 12), "unpacked": (1, 0)}


def test_old_states_and_answers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    cache = filled(tmp_path / "c")
    home = cache.root / "tables" / ("c" * 32)
    (home / "data").mkdir(parents=True)
    os.utime(home, (OLD, OLD))
    archives = cache.archives()
    archives.mkdir()
    for name, when in (("old.jsa", OLD), ("new.jsa", NOW)):
        (archives / name).write_bytes(b"classes")
        os.utime(archives / name, (when, when))
    found = {each.name: (each.files, each.size) for each in cache_prune.prune(cache, OLD + 1)}
    assert found == {"states": (2, 8), "tables": (1, 0), "answers": (1, 2), "archives": (1, 7)}
    left = {path.name for path in cache.root.rglob("*") if path.suffix != ".lock"}
    assert {NEW_STATE, TWO, "a.jar", "new.jsa"} <= left
    assert not {OLD_STATE, f"{OLD_STATE}.changed-12", ONE, "old.jsa"} & left


def test_a_cache_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "none")
    assert cache_prune.kept(cache) == ()
    assert cache_prune.prune(cache, NOW)[0].files == 0
