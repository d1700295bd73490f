"""What `harness doctor` tells of Docker: never a failure, whatever is there."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from docker.errors import ImageNotFound
from rich.console import Console

from harness.artifacts import distributions
from harness.cli import app, doctor_containers
from harness.cli.doctor_containers import Docker
from harness.runtime import docker_daemon

BUILT = "lake-table-harness/trino:476-0123456789ab"
NOBODY = "tcp://127.0.0.1:1"
NAMES = ("trino-476", "trino-368", "spark-3.5.8", "spark-3.5.8-hudi-1.0.2")


class Images:
    """The images of a daemon; whoever would pull or build one asks for more than there is."""

    def __init__(self, here: dict[str, str]) -> None:
        """`here`: architectures by name."""
        self.here = here

    def get(self, reference: str) -> SimpleNamespace:
        if reference not in self.here:
            raise ImageNotFound(reference)
        facts = {"Architecture": self.here[reference], "Size": 697_000_000, "RepoDigests": []}
        return SimpleNamespace(id="sha256:1", attrs=facts)

    def list(self, name: str) -> Iterator[SimpleNamespace]:
        for text_ in self.here:
            if text_.startswith(f"{name}:"):
                yield SimpleNamespace(tags=[text_], id="sha256:1", attrs={"Created": "1"})


def daemon(monkeypatch: pytest.MonkeyPatch, here: dict[str, str], memory_mb: int = 8000) -> None:
    client = SimpleNamespace(
        images=Images(here),
        version=lambda: {"Arch": "amd64"},
        info=lambda: {"ServerVersion": "20.10.24", "MemTotal": memory_mb << 20},
        close=lambda: None,
    )
    monkeypatch.setattr(docker_daemon, "client", lambda: client)
    monkeypatch.setenv("DOCKER_HOST", "unix:///a/socket")


def shown(docker: Docker, names: tuple[str, ...] = ("trino-476",)) -> str:
    out = io.StringIO()
    request = doctor_containers.warnings(docker, "mine", names)
    doctor_containers.show(docker, request, Console(file=out, width=160))
    return out.getvalue()


def test_the_daemon_and_the_image_of_each_engine_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, {BUILT: "amd64", "trinodb/trino:368": "amd64"})
    lines = shown(doctor_containers.look(NAMES)).splitlines()
    about = "Docker: version 20.10.24, amd64, 8000 MB of memory, at unix:///a/socket"
    assert [" ".join(line.split()) for line in lines] == [
        about,
        "official image what is there size for",
        f"apache/spark:3.5.8-python3 none; a run tries to pull it {', '.join(NAMES[2:])}",
        "trinodb/trino:368 the official one 697 MB trino-368",
        f"trinodb/trino:476 built here: {BUILT} 697 MB trino-476",
    ]


def test_where_no_daemon_answers_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOBODY)
    docker = doctor_containers.look(NAMES)
    assert shown(docker) == (
        f"Docker: no Docker daemon answers at {NOBODY} (Connection refused). Start one, or name "
        "another by DOCKER_HOST; without containers: --runtime process\n"
    )


def test_a_daemon_that_goes_away_while_it_is_asked_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, {})

    def gone(_: object, reference: str) -> SimpleNamespace:
        raise ConnectionResetError(reference)

    monkeypatch.setattr(Images, "get", gone)
    assert "no Docker daemon answers at unix:///a/socket (" in shown(doctor_containers.look(NAMES))


def test_too_little_memory_for_a_profile_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("trino-476", "hive-metastore-3.1.3")
    need = sum(distributions.load(name).heap_mb + 1024 for name in names)
    daemon(monkeypatch, {}, need)
    assert "warning" not in shown(doctor_containers.look(names), names)
    daemon(monkeypatch, {}, need - 1)
    assert shown(doctor_containers.look(names), names).endswith(
        f"warning: the containers of mine may take {need} MB together, each its heap and 1 GiB, "
        f"and the daemon has {need - 1} MB; give it more, or run fewer engines\n"
    )


def test_an_image_for_another_machine_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, {"trinodb/trino:476": "arm64"})
    assert shown(doctor_containers.look(NAMES)).endswith(
        "warning: the image trinodb/trino:476 is for arm64 and the daemon runs on amd64: a run "
        "refuses it; remove it and pull the one for amd64\n"
    )


def test_the_command_ends_as_it_does_without_docker(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOBODY)
    without = app.main(["doctor"])
    daemon(monkeypatch, {}, 1)
    assert app.main(["doctor", "--profile", "ci"]) == without
    message = capsys.readouterr().out
    assert f"no Docker daemon answers at {NOBODY}" in message
    assert "warning: the containers of ci may take " in message
