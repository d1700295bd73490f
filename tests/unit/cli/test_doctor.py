"""What `harness doctor` reports of this machine and of Docker, each with what to do."""

import io
import json
import re
import struct
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from types import SimpleNamespace

import pytest
from docker.errors import ImageNotFound
from rich.console import Console

from harness.artifacts import distributions
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.fetch import Missing
from harness.cli import app, doctor, engine_commands
from harness.cli.doctor import Machine
from harness.read import platform_tables
from harness.runtime import docker_daemon
from harness.runtime.memory import MACHINE, Free
from harness.usage.own_tables import OwnTables, Space

COMPLETE: doctor.Missing = {"trino-476": ()}
GOOD = Machine(Free(4000, MACHINE), 100_000, "the cache")
BUILT = "lake-table-harness/trino:476-0123456789ab"
NOBODY = "tcp://127.0.0.1:1"


@pytest.mark.parametrize(
    ("machine", "missing", "message"),
    [
        (
            replace(GOOD, memory=Free(1600, "left of the 2000 MB that /sys/fs/cgroup allows")),
            COMPLETE,
            r"1600 MB .* /sys/fs/cgroup allows and 1650 MB are needed; end other programs",
        ),
        (
            replace(GOOD, disk_mb=10),
            {"trino-476": (Missing("x.jar", 1),)},
            r"10 MB of disk are free at the cache and \d+ MB .*, or set HARNESS_CACHE to another",
        ),
    ],
)
def test_what_a_machine_lacks_is_reported_with_what_to_do(
    machine: Machine, missing: doctor.Missing, message: str
) -> None:
    (problem,) = doctor.machine_problems(machine, missing)
    assert re.match(message, problem)
    assert doctor.machine_problems(replace(GOOD, disk_mb=10), COMPLETE) == ()


@pytest.mark.parametrize("name", ["/proc/harness", "somebody's"])
def test_a_cache_that_cannot_be_written_is_reported(name: str, tmp_path: Path) -> None:
    (tmp_path / "somebody's").mkdir()
    (tmp_path / "somebody's" / "notes.txt").touch()
    problems = doctor.machine_problems(doctor.this_machine(Cache(tmp_path / name)), {})
    assert any("HARNESS_CACHE" in problem for problem in problems)
    assert doctor.this_machine(Cache(tmp_path / "new")).unusable == ""
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["notes.txt", "somebody's"]


def test_verifying_finds_removes_and_names_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", NOBODY)
    cache, artifact = Cache(tmp_path), distributions.load("trino-476").artifacts[-1]
    path = cache.artifact(artifact)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a jar")
    cache.stamp(artifact)
    assert app.main(["doctor", "--verify"]) == 3
    assert f"changed since it was fetched, removed: {path}" in capsys.readouterr().out
    assert not path.exists()
    app.main(["doctor", "--verify"])
    assert "every artifact in the cache is what its lock says" in capsys.readouterr().out


class Images:
    """The images of a daemon; whoever would pull or build one asks for more than there is."""

    def __init__(self, architectures: dict[str, str]) -> None:
        self.architectures = architectures

    def get(self, reference: str) -> SimpleNamespace:
        if reference not in self.architectures:
            raise ImageNotFound(reference)
        architecture = self.architectures[reference]
        facts = {"Architecture": architecture, "Size": 697_000_000, "RepoDigests": []}
        return SimpleNamespace(id="sha256:1", attrs=facts)

    def list(self, name: str) -> Iterator[SimpleNamespace]:
        for tag in self.architectures:
            if tag.startswith(f"{name}:"):
                yield SimpleNamespace(tags=[tag], id="sha256:1", attrs={"Created": "1"})


def daemon(monkeypatch: pytest.MonkeyPatch, images: dict[str, str], memory_mb: int = 8000) -> None:
    client = SimpleNamespace(
        images=Images(images),
        version=lambda: {"Arch": "amd64"},
        info=lambda: {"ServerVersion": "20.10.24", "MemTotal": memory_mb << 20},
        close=lambda: None,
    )
    monkeypatch.setattr(docker_daemon, "client", lambda: client)
    monkeypatch.setenv("DOCKER_HOST", "unix:///a/socket")


def shown(names: tuple[str, ...]) -> str:
    out = io.StringIO()
    doctor.show_docker("mine", names, Console(file=out, width=160))
    return out.getvalue()


def test_the_daemon_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, {})
    about = "Docker: version 20.10.24, amd64, 8000 MB of memory, at unix:///a/socket"
    assert shown(()) == f"{about}; harness engines names the images\n"


def test_the_image_of_each_engine_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, {BUILT: "amd64", "trinodb/trino:368": "amd64"})
    images = engine_commands.stored_images(
        ("trino-476", "trino-368", "spark-3.5.8", "duckdb-1.5.5")
    )
    assert {name: image and image.reference for name, image in (images or {}).items()} == {
        "trino-476": BUILT,
        "trino-368": "trinodb/trino:368",
        "spark-3.5.8": None,
    }


def test_a_daemon_that_goes_away_while_it_is_asked_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon(monkeypatch, {})

    def gone(_: object, reference: str) -> SimpleNamespace:
        raise ConnectionResetError(reference)

    monkeypatch.setattr(Images, "get", gone)
    assert engine_commands.stored_images(("trino-476",)) is None


def test_too_little_memory_for_a_profile_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("trino-476", "hive-metastore-3.1.3")
    need = sum(distributions.load(name).heap_mb + 1024 for name in names)
    daemon(monkeypatch, {}, need)
    assert "warning" not in shown(names)
    daemon(monkeypatch, {}, need - 1)
    assert shown(names).endswith(
        f"warning: the containers of mine may take {need} MB together, each its heap and 1 GiB, "
        f"and the daemon has {need - 1} MB; give it more, or run fewer engines\n"
    )


def test_docker_is_never_why_the_command_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", NOBODY)
    without = app.main(["doctor"])
    daemon(monkeypatch, {}, 1)
    assert app.main(["doctor", "--profile", "ci"]) == without
    message = capsys.readouterr().out
    assert (
        f"Docker: no Docker daemon answers at {NOBODY} (Connection refused). Start one, or name "
        "another by DOCKER_HOST; without containers: --runtime process, and no @container\n"
        in message
    )
    assert "warning: the containers of ci may take " in message


def test_what_a_dead_run_has_left_on_a_platform_is_removed_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    records = tmp_path / "cache" / "own_tables"
    records.mkdir(parents=True)
    space = OwnTables("harness_", "theirs", str(tmp_path)).space("thrift://127.0.0.1:1")
    (records / "one.json").write_text(json.dumps(asdict(space)), encoding="utf-8")
    file = tmp_path / "platform.yaml"
    file.write_text("catalogs: {}\n", encoding="utf-8")
    assert app.main(["doctor", "--platform", str(file)]) == 0
    assert "is left, and the next run tries again to remove it: " in capsys.readouterr().out
    removed = list[Space]()
    monkeypatch.setattr(platform_tables, "remove", removed.append)
    assert app.main(["doctor", "--platform", str(file)]) == 0
    assert f"removed {space}" in capsys.readouterr().out
    assert removed == [space]
    assert not list(records.glob("*.json"))


class Kerberos(StreamRequestHandler):
    """A HiveServer2 whose authentication is KERBEROS, at the first step of a login."""

    def handle(self) -> None:
        _, length = struct.unpack(">BI", self.rfile.read(5))
        why = f"Unsupported mechanism type {self.rfile.read(length).decode()}".encode()
        self.wfile.write(struct.pack(">BI", 3, len(why)) + why)


def test_a_hiveserver2_with_kerberos_is_said_not_to_be_supported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    with ThreadingTCPServer(("127.0.0.1", 0), Kerberos) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"hive2://127.0.0.1:{server.server_address[1]}"
        file = tmp_path / "platform.yaml"
        engine = f"production-hive: {{like: hive-3.1.3, address: '{address}'}}"
        file.write_text(f"engines:\n  {engine}\n", encoding="utf-8")
        assert app.main(["doctor", "--platform", str(file)]) == 3
        server.shutdown()
    message = " ".join(capsys.readouterr().out.split())
    assert "it does not take the login of harness: Unsupported mechanism" in message
    assert "Kerberos is not supported" in message
