import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from harness.artifacts import cache_cleanup, distributions, python_index, table_homes
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, MARK, Cache
from harness.artifacts.cache_cleanup import sweep
from harness.artifacts.distribution import Artifact, coordinates
from harness.cli import app
from harness.core.errors import EnvironmentProblem, UsageProblem

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


WRONG_USE = 2
DIGEST, ID, SHORT = "a1" * 32, "b2" * 16, "c3" * 8
THEIRS = ("answers/2024/exam.txt", "tables/mytable/data", "archives/backup.tgz")
"""Files of somebody in folders that a cache has as well."""
OURS = (
    *(f"states/{DIGEST}/state.json", f"states/{DIGEST}.lock", f"states/.making-{DIGEST}/x"),
    *(f"states/{DIGEST}.changed-12/state.json", f"tables/{ID}/f", f"tables/.making-{ID}"),
    *(f"results/a1/{DIGEST}.jsonl", f"results/parts/{ID}.jsonl"),
    *(f"answers/a1/{DIGEST}.json", f"answers/parts/{ID}.json", "tables.lock"),
    *(f"artifacts/{SHORT}/a.jar", f"unpacked/{SHORT}/lib/a.jar", f"jre/17.0.9-{SHORT}/bin/java"),
    *("archives/base-17.jsa", f"archives/trino-476-{SHORT}.seen", "archives/.making-x.jsa.temp"),
    *(f"jre/17.0.9-{SHORT}.lock", "archives/base-17.jsa.lock", "lost+found/x"),
)
"""What caches held before they had a mark."""


def made(folder: Path, *names: str) -> Cache:
    """Make files in a folder that are older than any that is kept."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("kept", encoding="utf-8")
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    return Cache(folder)


@pytest.mark.parametrize("theirs", [*THEIRS, "notes.txt", "answers", "states/a/b", MARK])
def test_a_folder_that_holds_anything_else_is_no_cache(theirs: str, tmp_path: Path) -> None:
    cache = made(tmp_path, theirs, *(our for our in OURS if not our.startswith(f"{theirs}/")))
    before, first = sorted(tmp_path.rglob("*")), "/".join(theirs.split("/")[:2])
    reason = f"is no cache of the harness and not empty: it holds '{first}"
    for touching in (Cache.claim, lambda folder: cache_cleanup.prune(folder, 1)):
        with pytest.raises(UsageProblem, match=reason):
            touching(cache)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "command",
    [
        *(["cache", "prune", "--older-than", "0"], ["doctor", "--verify"]),
        *(["run", "--profile", "first", "--offline"], ["fetch", "--profile", "first", "--offline"]),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_no_command_takes_a_folder_of_somebody_for_a_cache(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = tmp_path / "project"
    made(project, *THEIRS)
    before = sorted(project.rglob("*"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(project))
    assert app.main(command) == WRONG_USE
    message = capsys.readouterr().err
    assert "let HARNESS_CACHE name a folder that is not there yet, or an empty one" in message
    assert sorted(project.rglob("*")) == before


BEING_MADE = (f".making-{MARK}/{MARK}", "CACHEDIR.TAG.lock")


@pytest.mark.parametrize("names", [(), OURS, ("lost+found/x",), BEING_MADE])
def test_a_new_folder_an_empty_one_and_an_old_cache_get_a_mark_and_are_known_by_it(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    cache = made(tmp_path / "cache", *names)
    cache.check()
    cache.claim()
    assert (cache.root / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789")
    made(cache.root, "notes.txt")
    cache.claim()
    assert not list(cache.root.glob(f".making-{MARK}"))


def test_in_a_cache_too_only_what_the_harness_names_so_is_cleared(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.claim()
    made(cache.root, *THEIRS, *OURS)
    cache_cleanup.prune(cache, 1)
    assert all((cache.root / name).exists() for name in THEIRS)
    assert not (cache.root / "states" / DIGEST).exists()


def test_a_file_is_no_cache_and_two_that_share_engines_are_both_one(tmp_path: Path) -> None:
    made(tmp_path / "shared", *OURS)
    (tmp_path / "file").touch()
    with pytest.raises(UsageProblem, match="file is no folder; let HARNESS_CACHE name another"):
        Cache(tmp_path / "file").claim()
    (tmp_path / "own").mkdir()
    for name in ("artifacts", "jre", "unpacked"):
        (tmp_path / "own" / name).symlink_to(tmp_path / "shared" / name)
    Cache(tmp_path / "own").check()


WRITE = (
    "import signal, sys; from pathlib import Path\n"
    "from harness.artifacts import cache, table_homes\n"
    "with table_homes.new(cache.Cache(Path(sys.argv[1]))) as home:\n"
    "    (home / 'data').mkdir(parents=True)\n"
    "    print(home, flush=True)\n"
    "    signal.pause()\n"
)


def broken_off(cache: Cache, *, wrote: bool) -> Path:
    with suppress(KeyboardInterrupt), table_homes.new(cache) as home:
        if wrote:
            (home / "data").mkdir(parents=True)
        raise KeyboardInterrupt
    return home


def left(cache: Cache) -> list[str]:
    there = (path.name for path in table_homes.folder(cache).iterdir())
    return [name for name in there if not name.endswith(".lock")]


def test_a_home_is_its_writers_as_long_as_that_lives_and_then_the_next_sweeps(
    tmp_path: Path,
) -> None:
    cache, command = Cache(tmp_path), [sys.executable, "-c", WRITE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        home = Path(writer.stdout.readline().strip())
        swept, there = sweep(cache), (home / "data").is_dir()
        writer.kill()
    assert (swept, there) == ((), True)
    assert len(sweep(cache)) == 1
    assert left(cache) == []


def test_a_sweep_that_dies_is_gone_on_with_and_takes_nothing_that_is_read_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    broken_off(cache, wrote=False)
    sweep(cache)
    assert left(cache) == []
    home = broken_off(cache, wrote=True)
    with monkeypatch.context() as died:
        died.setattr(table_homes, "remove", lambda _: None)
        sweep(cache)
    assert not home.exists()
    table_homes.keep(home)
    home.mkdir()
    sweep(cache)
    assert left(cache) == [home.name]


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
