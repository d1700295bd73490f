"""`harness engines` and what it says of engines; nothing is fetched or started here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import app
from harness.conformance import kit, results
from harness.conformance.results import Conformance

WRONG_USE = 2


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert app.main(["engines", *arguments]) == 0
    return capsys.readouterr().out


def test_every_engine_is_listed_with_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys).splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == list(distributions.names())
    (trino,) = (line for line in lines if line.startswith("trino-476 "))
    assert trino.split("  ")[0] == "trino-476"
    assert "MB to fetch" in trino
    assert "no Docker daemon" in trino
    assert trino.count("not checked here") == 2
    assert lines[-1].startswith("other versions (prestodb from 0.275 on, ")


def test_what_the_kit_found_last_is_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "cache")
    for day, first in ("2024-02-28", results.failed("no")), ("2024-02-29", results.passed()):
        every = dict.fromkeys(kit.ASSERTS, results.passed()) | {"ready": first}
        where = ("trino", "476", "process", day, "stock")
        results.keep(Conformance("trino-476", *where, every, 14.0, 900), cache)
    listed = {load["name"]: load for load in json.loads(told(capsys, "list", "--json"))["engines"]}
    assert listed["trino-476"]["conforms"] == {
        "process": "passed, 2024-02-29",
        "container": "not checked here",
    }


def test_own_engines_are_listed_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "readers.yaml").write_text("trino-mine: {like: trino-476, heap_mb: 7}\n")
    assert "trino-mine " in told(capsys, "list", "--scenarios", "my")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "trino", "476"], "trino-476 cannot be added: the harness already has it"),
        (["add", "hive", "4.0.0"], "hive-4.0.0 cannot be added: Hive's hundred jars"),
        (["prune", "trino-470"], "there is no lock data of trino-470"),
        (["prune", "drill-1"], "unknown distribution 'drill-1'"),
        (["ad"], "No such command 'ad'"),
    ],
)
def test_wrong_use_is_told(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["engines", *arguments]) == WRONG_USE
    assert said in capsys.readouterr().err
