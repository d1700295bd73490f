from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.repository_server import Server, serving

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests" / "recorded" / "findings_a5"
CANARY = "canary-3f9a1c"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state


@pytest.fixture
def environment(server: Server, tmp_path: Path) -> dict[str, str]:
    names = (
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "PGPASSWORD",
        "MY_SECRET",
    )
    secrets = {name: f"{CANARY}-{name}" for name in names}
    repository = server.url.replace("://", f"://me:{CANARY}-repository@")
    variables = {"HARNESS_MAVEN_REPOSITORY": repository, "HARNESS_CACHE": str(tmp_path / "cache")}
    return {**os.environ, **secrets, **variables}


def harness(environment: dict[str, str], folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "harness", *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd=folder,
    )
    return f"{done.returncode}\n{done.stdout}\n{done.stderr}"


def leaks(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if CANARY.encode() in path.read_bytes()]


def test_a_run_that_is_judged_and_drawn_holds_no_secret(
    environment: dict[str, str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    for command in ("judge", "report"):
        output = harness(environment, tmp_path, command, "--run-dir", str(run))
        assert CANARY not in output
    assert (run / "junit.xml").is_file()
    assert (run / "harness.log").stat().st_size > 0
    assert leaks(run) == []


def test_a_fetch_that_fails_tells_the_address_without_the_login_that_it_sent(
    environment: dict[str, str], server: Server, tmp_path: Path
) -> None:
    output = harness(environment, tmp_path, "run", "--profile", "first", "--run-dir", "run")
    assert output.startswith("3\n")
    assert f"{server.url}/" in output
    assert ": 404 " in output
    assert server.logins[0] == ("me", f"{CANARY}-repository")
    assert CANARY not in output
    assert leaks(tmp_path) == []


def test_a_plan_and_the_state_of_this_machine_hold_no_secret(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert CANARY not in harness(environment, tmp_path, "plan", "--profile", "first")
    assert CANARY not in harness(environment, tmp_path, "doctor")
