from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from harness.artifacts.cache import OFFLINE, Cache
from harness.cli import app
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.run import pipeline

BROKEN = 3


def test_the_key_is_one_line_and_another_for_other_engines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys = []
    for profile in ("first", "first", "ci"):
        assert app.main(["cache", "key", "--profile", profile]) == 0
        keys.append(capsys.readouterr().out)
    assert all(re.fullmatch(r"[0-9a-f]{64}\n", key) for key in keys)
    assert keys[0] == keys[1] != keys[2]


def test_offline_what_is_missing_is_told_with_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["run", "--profile", "first", "--offline", "--run-dir", str(tmp_path / "run")]
    assert app.main(arguments) == BROKEN
    message = capsys.readouterr().err
    assert "offline, and not in" in message
    assert "harness cache import FILE" in message


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("true", True), ("0", False)])
def test_the_variable_says_offline_too(
    monkeypatch: pytest.MonkeyPatch, value: str, *, offline: bool
) -> None:
    monkeypatch.setenv(OFFLINE, value)
    assert Cache.default().offline is offline
    assert Cache.default(offline=True).offline
    assert not Cache.default(offline=False).offline


@pytest.mark.parametrize(("told", "offline"), [([], True), (["--no-offline"], False)])
def test_what_a_command_is_told_goes_before_the_variable(
    told: list[str], monkeypatch: pytest.MonkeyPatch, *, offline: bool
) -> None:
    caches = list[Cache]()
    monkeypatch.setenv(OFFLINE, "1")
    monkeypatch.setattr(pipeline, "fetch_all", lambda _, cache, __: caches.append(cache))
    assert app.main(["fetch", "--profile", "first", *told]) == 0
    assert [cache.offline for cache in caches] == [offline]


def test_offline_all_that_is_missing_is_told_and_not_of_the_first_engine_only(
    tmp_path: Path,
) -> None:
    assert lacking(["trino-476", "prestosql-350"], tmp_path) > lacking(["trino-476"], tmp_path)


def lacking(names: list[str], folder: Path) -> int:
    """Return the megabytes that are told to be missing."""
    with pytest.raises(EnvironmentProblem) as exception_info:
        pipeline.fetch_all(names, Cache(folder, offline=True), Progress())
    match = re.search(r"\((\d+) MB\)", str(exception_info.value))
    assert match is not None
    return int(match[1])


def test_an_import_of_something_else_ends_as_a_broken_environment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "x.tar"
    file.write_text("no tar", encoding="utf-8")
    assert app.main(["cache", "import", str(file)]) == BROKEN
    assert "nothing of it was imported" in capsys.readouterr().err


def test_the_cache_is_listed_and_cleared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answer = Path(os.environ["HARNESS_CACHE"]) / "answers" / "aa" / f"{64 * 'a'}.json"
    answer.parent.mkdir(parents=True)
    answer.write_text("{}", encoding="utf-8")
    assert app.main(["cache", "list"]) == 0
    assert re.search(r"answers +1 ", capsys.readouterr().out)
    assert app.main(["cache", "prune", "--older-than", "1"]) == 0
    assert answer.exists()
    os.utime(answer, (0, 0))
    assert app.main(["cache", "prune", "--older-than", "1"]) == 0
    assert not answer.exists()
    assert "1 answers" in capsys.readouterr().out
