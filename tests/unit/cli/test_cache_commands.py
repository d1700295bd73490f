import os
import re
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.cli import app
from harness.core.runtime_names import OFFLINE

Capture = pytest.CaptureFixture[str]

BROKEN = 3


def test_the_key_is_one_line_and_another_for_other_engines(capsys: Capture) -> None:
    keys = []
    for profile in ("first", "first", "ci"):
        assert app.main(["cache", "key", "--profile", profile]) == 0
        keys.append(capsys.readouterr().out)
    assert all(re.fullmatch(r"[0-9a-f]{64}\n", key) for key in keys)
    assert keys[0] == keys[1] != keys[2]


def test_offline_what_is_missing_is_reported_with_what_to_do(
    capsys: Capture, tmp_path: Path
) -> None:
    arguments = ["run", "--profile", "first", "--offline", "--run-dir", str(tmp_path / "run")]
    assert app.main(arguments) == BROKEN
    message = capsys.readouterr().err
    assert "offline, and not in" in message
    assert "Run harness fetch where there is a network" in message


@pytest.mark.parametrize(
    ("value", "option", "offline"),
    [("1", None, True), ("true", None, True), ("0", None, False), ("1", False, False)],
)
def test_the_variable_says_offline_and_an_option_goes_before_it(
    monkeypatch: pytest.MonkeyPatch, *, value: str, option: bool | None, offline: bool
) -> None:
    monkeypatch.setenv(OFFLINE, value)
    assert Cache.default(offline=option).offline is offline


def test_the_cache_is_listed_and_cleared(capsys: Capture, tmp_path: Path) -> None:
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


def test_the_cache_is_pruned_to_a_size(capsys: Capture) -> None:
    assert app.main(["cache", "prune", "--to", "5GB"]) == 0
    assert capsys.readouterr().out.startswith("removed the oldest; the cache has 0")
    assert app.main(["cache", "prune", "--to", "much"]) == 2
    assert "--to much: not a size; allowed: such as 5GB or 800MB" in capsys.readouterr().err
