import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli import app
from tests.builders.repository_server import Server, serving

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"
CANARY = "canary-3f9a1c"
VARIABLES = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "PGPASSWORD", "MINE")


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Serve a repository that wants a login; every secret of the user has the canary in it."""
    for name in VARIABLES:
        monkeypatch.setenv(name, f"{CANARY}-{name}")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with serving() as repository:
        url = repository.url.replace("://", f"://me:{CANARY}-repository@")
        monkeypatch.setenv("HARNESS_MAVEN_REPOSITORY", url)
        yield repository


def harness(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status, output = app.main(list(arguments)), capsys.readouterr()
    text = output.out + output.err
    assert CANARY not in text
    return status, text


def leaks(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if CANARY.encode() in path.read_bytes()]


def test_a_run_that_is_judged_and_drawn_holds_no_secret(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    for command in ("judge", "report"):
        harness(capsys, command, "--run-dir", str(run))
    assert (run / "junit.xml").is_file()
    assert (run / "harness.log").stat().st_size > 0
    assert leaks(run) == []


def test_a_fetch_that_fails_tells_the_address_without_the_login_that_it_sent(
    capsys: pytest.CaptureFixture[str], server: Server, tmp_path: Path
) -> None:
    status, text = harness(capsys, "run", "--profile", "first", "--run-dir", "run")
    assert status == 3
    assert f"{server.url}/" in text
    assert ": 404 " in text
    assert server.logins[0] == ("me", f"{CANARY}-repository")
    assert leaks(tmp_path) == []


@pytest.mark.parametrize("command", [["plan", "--profile", "first"], ["doctor"]])
def test_a_plan_and_the_state_of_this_machine_hold_no_secret(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert harness(capsys, *command)[1]
