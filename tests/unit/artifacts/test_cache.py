from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.artifacts import cache_cleanup
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, MARK, Cache
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
    *(f"answers/a1/{DIGEST}.json", f"answers/parts/{ID}.json", "tables.lock", "parcel.lock"),
    *(f"artifacts/{SHORT}/a.jar", f"unpacked/{SHORT}/lib/a.jar", f"jre/17.0.9-{SHORT}/bin/java"),
    *("archives/base-17.jsa", f"archives/trino-476-{SHORT}.seen", "archives/.making-x.jsa.temp"),
    *(f"jre/17.0.9-{SHORT}.lock", "archives/base-17.jsa.lock", ".making-parcel/0", "lost+found/x"),
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
        ["cache", "export", "../x", "--offline"],
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
