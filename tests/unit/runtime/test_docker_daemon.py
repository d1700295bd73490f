import socket
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from docker.errors import APIError

from harness.artifacts import distributions, fetch
from harness.cli import app
from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon
from harness.runtime.container_runtime import ContainerRuntime

NOWHERE = "unix:///nowhere/docker.sock"


def problem(monkeypatch: pytest.MonkeyPatch, host: str) -> EnvironmentProblem:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(EnvironmentProblem) as error:
        docker_daemon.describe()
    return error.value


def test_no_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(problem(monkeypatch, NOWHERE)) == (
        f"no Docker daemon answers at {NOWHERE} (No such file or directory). Start one, or name "
        "another by DOCKER_HOST; without containers: --runtime process, and no @container"
    )


def test_a_socket_at_which_nobody_listens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    assert "/s (Connection refused). " in str(problem(monkeypatch, f"unix://{tmp_path}/s"))


def test_a_daemon_that_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docker_daemon, "TIMEOUT_S", 1)
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "s"))
        mute.listen()
        assert "(no answer within 1 s)" in str(problem(monkeypatch, f"unix://{tmp_path}/s"))


def test_what_a_daemon_refuses_is_reported_with_its_reason() -> None:
    with pytest.raises(EnvironmentProblem) as error, docker_daemon.asked("start it"):
        raise APIError("500 Server Error", explanation="port is already allocated")
    assert str(error.value).endswith("cannot start it: port is already allocated")


def test_a_daemon_that_goes_away_is_no_defect_of_the_harness() -> None:
    with pytest.raises(EnvironmentProblem, match="gone"), docker_daemon.asked("start it"):
        raise ConnectionResetError("gone")


def test_a_container_that_the_daemons_machine_cannot_hold_is_not_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(docker_daemon, "describe", lambda: SimpleNamespace(memory_mb=100))
    trino = distributions.load("trino-476")
    started = ContainerRuntime(trino, MagicMock(), MagicMock()).start(
        MagicMock(), None, tmp_path, lambda *_: None
    )
    with pytest.raises(EnvironmentProblem, match=r"may take \d+ MiB .* has 100 MiB"), started:
        pass


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--profile", "first", "--runtime", "container"],
        ["upgrade", "--run", "--from", "trino-476", "--to", "trino-483@container"],
    ],
)
def test_what_needs_containers_ends_with_3_before_anything_is_fetched_where_no_docker_answers(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    monkeypatch.setattr(fetch, "missing", lambda *_: pytest.fail("it looks what to fetch"))
    assert app.main([*command, "--run-dir", str(tmp_path / "run")]) == 3
    output = capsys.readouterr()
    assert f"no Docker daemon answers at {NOWHERE}" in output.out + output.err
    assert "Traceback" not in output.err
