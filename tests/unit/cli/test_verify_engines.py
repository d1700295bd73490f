"""`harness engines verify`: which readers, the exit status, what is printed and written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import app, engine_commands
from harness.conformance import kit, results
from harness.conformance.results import CheckResult, Conformance
from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon
from harness.scenario.cells import Reader

WRONG_USE = 2
VERIFY = ["engines", "verify"]
Verified = Callable[..., list[str]]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Verified:
    """Let each reader come out so, by name (else it passes all); gives who was checked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))

    def plan(**found: CheckResult) -> list[str]:
        checked = list[str]()

        def verify(reader: Reader, *_: object) -> Conformance:
            checked.append(str(reader))
            first = found.get(str(reader).partition("-")[0], results.passed())
            every = dict.fromkeys(kit.ASSERTS, results.passed()) | {"ready": first}
            where = ("trino", "476", "process", "2024-02-29", "stock")
            return Conformance(str(reader), *where, every, 14.0, 900)

        monkeypatch.setattr(kit, "verify", verify)
        return checked

    return plan


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ({}, 0),
        ({"hive": results.not_applicable("it runs as a process")}, 0),
        ({"hive": results.failed("no answer")}, 1),
        ({"hive": results.unknown("it did not start")}, 3),
    ],
)
def test_the_status_says_what_was_found(
    verified: Verified, found: dict[str, CheckResult], status: int
) -> None:
    checked = verified(**found)
    assert app.main([*VERIFY, "trino-476", "hive-3.1.3{path=mapreduce}"]) == status
    assert checked == ["trino-476", "hive-3.1.3{path=mapreduce}"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the readers to check"),
        (["trino-476", "--all"], "name the readers to check"),
        (["trino-999"], "there is no lock data of trino-999"),
        (["hive-metastore-3.1.3"], "is not a reader"),
        (["trino-476@cloud"], "there is no runtime 'cloud'"),
        (["hive-3.1.3{orc.force.positional.evolution=true}"], "cannot be checked"),
    ],
)
def test_wrong_use_starts_nothing_and_says_what_is_allowed(
    verified: Verified, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    checked = verified()
    assert app.main([*VERIFY, *arguments]) == WRONG_USE
    assert said in capsys.readouterr().err
    assert checked == []


def test_the_answer_comes_first_and_what_was_seen_stands_beside_its_check(
    verified: Verified, capsys: pytest.CaptureFixture[str]
) -> None:
    verified(hive=results.failed("the count of two rows was ((1,),)"))
    app.main([*VERIFY, "trino-476", "hive-3.1.3"])
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "1 of 2 readers conforms; failed: hive-3.1.3."
    assert any(line.split()[:3] == ["ready", "failed", "the"] for line in rest)
    assert rest[-1].startswith("logs: ")


def test_the_page_is_written_and_says_how_it_was_made(verified: Verified, tmp_path: Path) -> None:
    verified()
    app.main([*VERIFY, "trino-476", "--out", "page.md"])
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "`harness engines verify trino-476 --out page.md`" in page
    assert "| trino-476 | 2024-02-29 |" in page


def test_a_page_that_cannot_be_written_is_told(
    verified: Verified, capsys: pytest.CaptureFixture[str]
) -> None:
    verified()
    assert app.main([*VERIFY, "trino-476", "--out", "none/page.md"]) == results.BROKE
    assert "none/page.md" in capsys.readouterr().err


def test_a_program_is_told_each_result(
    verified: Verified, capsys: pytest.CaptureFixture[str]
) -> None:
    verified(trino=results.failed("no answer"))
    app.main([*VERIFY, "trino-476", "--json"])
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (end["event"], end["status"]) == ("end", 1)
    (result,) = end["readers"]
    assert result["results"]["ready"] == {"outcome": "failed", "seen": "no answer"}


@pytest.mark.parametrize("docker", [False, True])
def test_all_engines_are_checked_in_the_runtimes_that_there_are(
    monkeypatch: pytest.MonkeyPatch, *, docker: bool
) -> None:
    def about() -> None:
        if not docker:
            raise EnvironmentProblem("no Docker daemon answers")

    monkeypatch.setattr(docker_daemon, "describe", about)
    names = list(map(str, engine_commands.all_readers()))
    assert {"trino-476", "hive-3.1.3", "spark-3.5.8-hudi-1.0.2"} <= set(names)
    assert "hive-metastore-3.1.3" not in names
    assert ("trino-476@container" in names) is docker
    assert "datafusion-54.1.0-hudi-0.5.0" in names
    assert "datafusion-54.1.0-hudi-0.5.0@container" not in names
    assert len(names) == len(set(names))
