"""`harness engines` and what it says of engines; nothing is fetched or started here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import app, engine_commands
from harness.conformance import kit, results
from harness.conformance.results import CheckOutcome, CheckResult, Conformance
from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon
from harness.scenario.cells import Reader

Capture = pytest.CaptureFixture[str]

VERIFY = ["engines", "verify"]
Verified = Callable[..., list[str]]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Verified:
    """Let each reader come out so, by name (else it passes all); gives who was checked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))

    def plan(**outcomes: CheckResult) -> list[str]:
        checked = list[str]()

        def verify(reader: Reader, *_: object) -> Conformance:
            checked.append(str(reader))
            first = outcomes.get(str(reader).partition("-")[0], CheckResult())
            every = dict.fromkeys(kit.ASSERTS, CheckResult()) | {"ready": first}
            where = ("trino", "476", "process", "2024-02-29", "stock")
            return Conformance(str(reader), *where, every, 14.0, 900)

        monkeypatch.setattr(kit, "verify", verify)
        return checked

    return plan


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ({}, 0),
        ({"hive": CheckResult(CheckOutcome.NOT_APPLICABLE, "it runs as a process")}, 0),
        ({"hive": results.failed("no answer")}, 1),
        ({"hive": results.unknown("it did not start")}, 3),
    ],
)
def test_the_status_says_what_was_found(
    verified: Verified, outcomes: dict[str, CheckResult], status: int
) -> None:
    checked = verified(**outcomes)
    assert app.main([*VERIFY, "trino-476", "hive-3.1.3{path=mapreduce}"]) == status
    assert checked == ["trino-476", "hive-3.1.3{path=mapreduce}"]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("verify", "name the readers to check"),
        ("verify trino-476 --all", "name the readers to check"),
        ("verify trino-999", "there is no lock data of trino-999"),
        ("verify hive-metastore-3.1.3", "is not a reader"),
        ("verify trino-476@cloud", "there is no runtime 'cloud'"),
        ("verify hive-3.1.3{orc.force.positional.evolution=true}", "of hive-parquet tables"),
        ("add trino 476", "trino-476 cannot be added: the harness already has it"),
        ("add hive 4.0.0", "hive-4.0.0 cannot be added: Hive's hundred jars"),
        ("prune trino-470", "there is no lock data of trino-470"),
        ("prune drill-1", "unknown distribution 'drill-1'"),
        ("ad", "No such command 'ad'"),
    ],
)
def test_wrong_use_starts_nothing_and_says_what_is_allowed(
    verified: Verified, capsys: Capture, command: str, problem: str
) -> None:
    checked = verified()
    assert app.main(["engines", *command.split()]) == WRONG_USE
    assert problem in capsys.readouterr().err
    assert checked == []


def test_the_answer_comes_first_and_what_was_seen_stands_beside_its_check(
    verified: Verified, capsys: Capture
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


WRONG_USE = 2


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")


def shown(capsys: Capture, *arguments: str) -> str:
    assert app.main(["engines", *arguments]) == 0
    return capsys.readouterr().out


def test_every_engine_is_listed_with_what_is_there(capsys: Capture) -> None:
    lines = shown(capsys).splitlines()
    names = list(distributions.names())
    assert [line.split()[0] for line in lines[3 : len(names) + 3]] == names
    trino, used = (line for line in lines if line.startswith("trino-476 "))
    assert used.split() == ["trino-476", *["reads"] * 5]
    assert trino.split("  ")[0] == "trino-476"
    assert "MB to fetch" in trino
    assert "no Docker daemon" in trino
    assert trino.count("not checked here") == 2
    assert lines[-1].startswith("other versions (chdb from 4.4.0 on, ")


def test_what_the_kit_found_last_is_listed(capsys: Capture, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    for day, first in ("2024-02-28", results.failed("no")), ("2024-02-29", CheckResult()):
        every = dict.fromkeys(kit.ASSERTS, CheckResult()) | {"ready": first}
        where = ("trino", "476", "process", day, "stock")
        results.keep(Conformance("trino-476", *where, every, 14.0, 900), cache)
    listed = {load["name"]: load for load in json.loads(shown(capsys, "list", "--json"))["engines"]}
    assert listed["trino-476"]["conforms"] == {
        "process": "passed, 2024-02-29",
        "container": "not checked here",
    }


def test_own_engines_are_listed_too(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "readers.yaml").write_text("trino-mine: {like: trino-476, heap_mb: 7}\n")
    assert "trino-mine " in shown(capsys, "list", "--scenarios", "my")
