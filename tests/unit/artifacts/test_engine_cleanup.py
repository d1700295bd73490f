"""What goes when engines are removed from the cache, and what others need stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.artifacts import cache_cleanup, cache_mark, distributions, jre
from harness.artifacts.cache import Cache
from harness.core.errors import UsageProblem

UNKNOWN = "artifacts/0123456789abcdef"


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache with a file of each of two engines that share a tree, of Trino, and of nobody."""
    found = Cache(tmp_path / "cache")
    for name in ("hive-3.1.3", "hive-metastore-3.1.3", "trino-476"):
        for place in places(name, found):
            (found.root / place).mkdir(parents=True, exist_ok=True)
            (found.root / place / "file").write_bytes(b"x" * 10)
    for folder in cache_cleanup.ENGINE_FOLDERS:
        (found.root / folder).mkdir(exist_ok=True)
    (found.root / UNKNOWN).mkdir()
    cache_mark.claim(found)
    return found


def places(name: str, cache: Cache) -> set[str]:
    found = distributions.load(name)
    every = [cache.artifact(each).parent for each in found.artifacts]
    if key := distributions.tree_digest(found):
        every.append(cache.tree(key))
    every.append(jre.folder(found.jre, cache))
    return {str(each.relative_to(cache.root)) for each in every}


def there(cache: Cache) -> set[str]:
    folders = (cache.root / each for each in cache_cleanup.ENGINE_FOLDERS)
    entries = (each for folder in folders for each in folder.iterdir() if each.is_dir())
    return {str(each.relative_to(cache.root)) for each in entries}


def test_files_of_no_known_engine_go_and_all_others_stay(cache: Cache) -> None:
    before = there(cache)
    found = {each.name: each.files for each in cache_cleanup.prune_engines((), cache)}
    assert found == {"artifacts": 1, "unpacked": 0, "jre": 0, "spark": 0, "python": 0}
    assert there(cache) == before - {UNKNOWN}


def test_what_other_engines_share_stays(cache: Cache) -> None:
    known = distributions.names()
    servers = [each for each in known if distributions.load(each).engine == "hive"]
    cache_cleanup.prune_engines(servers, cache)
    shared = places("hive-3.1.3", cache) & places("hive-metastore-3.1.3", cache)
    assert len(shared) > 100
    assert there(cache) == places("hive-metastore-3.1.3", cache) | places("trino-476", cache)


def test_an_engine_goes_with_its_java_if_nobody_else_needs_that(cache: Cache) -> None:
    found = cache_cleanup.prune_engines(["trino-476"], cache)
    assert [(each.name, each.files) for each in found] == [
        ("artifacts", 2),
        ("unpacked", 1),
        ("jre", 1),
        ("spark", 0),
        ("python", 0),
    ]
    assert found[1].size == 10
    assert not there(cache) & (places("trino-476", cache) - places("hive-3.1.3", cache))


def test_an_engine_that_is_not_known_removes_nothing(cache: Cache) -> None:
    before = there(cache)
    with pytest.raises(UsageProblem, match="unknown distribution"):
        cache_cleanup.prune_engines(["trino-1"], cache)
    assert there(cache) == before
