from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.artifacts import cache_cleanup, distributions, python_index
from harness.artifacts.cache import Cache
from harness.artifacts.cache_cleanup import sweep
from harness.core.errors import UsageProblem

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
        for path in (root / "answers" / "aa" / name, root / "results" / "aa" / f"{name}l"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"{}")
            os.utime(path, (when, when))
    jar, other = (root / name / ("d" * 16) / "a.jar" for name in ("artifacts", "unpacked"))
    for file in (jar, other):
        file.parent.mkdir(parents=True)
    jar.write_bytes(b"jar")
    other.hardlink_to(jar)
    return Cache(root)


def test_a_file_with_two_names_is_counted_once_and_where_there_is_no_cache_none(
    tmp_path: Path,
) -> None:
    none = Cache(tmp_path / "none")
    assert (cache_cleanup.sizes(none), sweep(none)) == ((), ())
    assert cache_cleanup.prune(none, NOW)[0].files == 0
    sizes = {
        size.name: (size.files, size.size) for size in cache_cleanup.sizes(filled(tmp_path / "c"))
    }
    made_again = {"answers": (2, 4), "results": (2, 4), "states": (3, 12)}
    assert sizes == {**made_again, "artifacts": (1, 3), "unpacked": (1, 0)}


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
    removed = {size.name: (size.files, size.size) for size in cache_cleanup.prune(cache, OLD + 1)}
    made_again = {"states": (2, 8), "answers": (1, 2), "results": (1, 2), "archives": (1, 7)}
    assert removed == {**made_again, "tables": (1, 0)}
    left = {path.name for path in cache.root.rglob("*") if path.suffix != ".lock"}
    assert {NEW_STATE, TWO, f"{TWO}l", "a.jar", "new.jsa"} <= left
    assert not {OLD_STATE, f"{OLD_STATE}.changed-12", ONE, f"{ONE}l", "old.jsa"} & left


def test_the_oldest_is_removed_until_the_cache_is_small_enough(tmp_path: Path) -> None:
    cache = filled(tmp_path / "c")
    whole = sum(entry.size for entry in cache_cleanup.sizes(cache))
    assert not any(entry.files for entry in cache_cleanup.prune_to(cache, whole))
    removed = {size.name: size.files for size in cache_cleanup.prune_to(cache, whole - 1)}
    assert sum(removed.values()) == 1  # one of the old ones is enough
    cache_cleanup.prune_to(cache, 0)
    left = {entry.name for entry in cache_cleanup.sizes(cache) if entry.size}
    assert left == {"artifacts"}, "engines stay"


@pytest.mark.parametrize("below", ["states", "unpacked", "jre", ""])
def test_what_a_live_harness_is_making_stays_and_is_removed_once_that_died(
    below: str, tmp_path: Path
) -> None:
    cache, made = Cache(tmp_path), tmp_path / below / ".making-a"
    (made / "table").mkdir(parents=True)
    (made / "table" / "file").touch()
    (made / "table").chmod(0o555)
    with cache.lock(made.with_name("a")):
        assert sweep(cache) == ()
    assert made.exists()
    assert sweep(cache) == (made,)
    assert not made.exists()


@pytest.mark.parametrize("name", [".making-x.jsa", ".making-x.jsa.temp"])
def test_an_archive_of_classes_that_the_dead_were_making_is_removed(
    name: str, tmp_path: Path
) -> None:
    cache = Cache(tmp_path)  # Java names an archive otherwise while it writes
    cache.archives().mkdir()
    half, whole = cache.archives() / name, cache.archives() / "x.jsa"
    half.touch()
    whole.touch()
    with cache.lock(whole):
        assert sweep(cache) == ()
    assert half.exists()
    assert sweep(cache) == (half,)
    assert (half.exists(), whole.exists()) == (False, True)


@pytest.mark.parametrize("folder", ["answers", "results"])
def test_of_what_is_being_written_only_the_old_is_the_deads(tmp_path: Path, folder: str) -> None:
    parts = tmp_path / folder / "parts"
    parts.mkdir(parents=True)
    old, new = parts / "old.json", parts / "new.json"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    assert sweep(Cache(tmp_path)) == (old,)
    assert new.exists()


UNKNOWN = "artifacts/0123456789abcdef"


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache with a file of each of two engines that share a tree, of Trino, and of nobody."""
    filled_cache = Cache(tmp_path / "cache")
    for name in ("hive-3.1.3", "hive-metastore-3.1.3", "trino-476"):
        for path in engine_folders(name, filled_cache):
            (filled_cache.root / path).mkdir(parents=True, exist_ok=True)
            (filled_cache.root / path / "file").write_bytes(b"x" * 10)
    for folder in cache_cleanup.ENGINE_FOLDERS:
        (filled_cache.root / folder).mkdir(exist_ok=True)
    (filled_cache.root / UNKNOWN).mkdir()
    filled_cache.claim()
    return filled_cache


def engine_folders(name: str, cache: Cache) -> set[str]:
    distribution = distributions.load(name)
    every = [cache.artifact(artifact).parent for artifact in distribution.artifacts]
    if key := distributions.tree_digest(distribution):
        every.append(cache.tree(key))
    every += [home.folder(cache) for home in python_index.homes(distribution)]
    return {str(path.relative_to(cache.root)) for path in every}


def there(cache: Cache) -> set[str]:
    folders = (cache.root / engine_folder for engine_folder in cache_cleanup.ENGINE_FOLDERS)
    entries = (path for folder in folders for path in folder.iterdir() if path.is_dir())
    return {str(entry.relative_to(cache.root)) for entry in entries}


def test_files_of_no_known_engine_go_and_all_others_stay(cache: Cache) -> None:
    before = there(cache)
    with pytest.raises(UsageProblem, match="unknown distribution"):
        cache_cleanup.prune_engines(["trino-1"], cache)
    assert there(cache) == before
    removed = {size.name: size.files for size in cache_cleanup.prune_engines((), cache)}
    assert removed == {"artifacts": 1, "unpacked": 0, "jre": 0, "spark": 0, "python": 0}
    assert there(cache) == before - {UNKNOWN}


def test_what_other_engines_share_stays(cache: Cache) -> None:
    known = distributions.names()
    servers = [text for text in known if distributions.load(text).engine == "hive"]
    cache_cleanup.prune_engines(servers, cache)
    shared = engine_folders("hive-3.1.3", cache) & engine_folders("hive-metastore-3.1.3", cache)
    assert len(shared) > 100
    assert there(cache) == engine_folders("hive-metastore-3.1.3", cache) | engine_folders(
        "trino-476", cache
    )


def test_an_engine_goes_with_its_java_if_nobody_else_needs_that(cache: Cache) -> None:
    removed = cache_cleanup.prune_engines(["trino-476"], cache)
    files = {size.name: size.files for size in removed}
    assert files == {"artifacts": 2, "unpacked": 1, "jre": 1, "spark": 0, "python": 0}
    assert removed[1].size == 10
    of_trino = engine_folders("trino-476", cache) - engine_folders("hive-3.1.3", cache)
    assert not there(cache) & of_trino
