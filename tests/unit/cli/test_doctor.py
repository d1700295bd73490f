"""What is told of this machine, each with what to do."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.artifacts import distributions
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.artifacts.fetch import Missing
from harness.cli import app, doctor
from harness.cli.doctor import Health, Machine
from harness.runtime.memory import MACHINE, Free

TRINO = Health(distributions.load("trino-476"), ())
GOOD = Machine((3, 11), Free(4000, MACHINE), 100_000, "the cache")


def test_a_machine_with_enough_lacks_nothing() -> None:
    assert doctor.problems(GOOD, [TRINO]) == ()


def test_too_little_memory_is_told_with_the_figures_and_who_limits_it() -> None:
    small = replace(GOOD, memory=Free(1600, "left of the 2000 MB that /sys/fs/cgroup allows"))
    (message,) = doctor.problems(small, [TRINO])
    assert message == (
        "1600 MB of memory are left of the 2000 MB that /sys/fs/cgroup allows and 1650 MB are "
        "needed; end other programs, or allow more"
    )


def test_too_little_disk_is_told_only_while_something_is_missing() -> None:
    small = replace(GOOD, disk_mb=10)
    assert doctor.problems(small, [TRINO]) == ()
    (message,) = doctor.problems(small, [replace(TRINO, missing=(Missing("x.jar", 1),))])
    assert "10 MB of disk are free at the cache" in message
    assert "HARNESS_CACHE" in message


def test_an_old_python_is_told() -> None:
    assert "Python 3.9; install 3.11" in doctor.problems(replace(GOOD, python=(3, 9)), [])[0]


@pytest.mark.parametrize("of", ["/proc/harness", "somebody's"])
def test_a_cache_in_which_nothing_can_be_kept_is_told(of: str, tmp_path: Path) -> None:
    (tmp_path / "somebody's").mkdir()
    (tmp_path / "somebody's" / "notes.txt").touch()
    request = doctor.problems(doctor.machine(Cache(tmp_path / of)), [])
    assert any("HARNESS_CACHE" in name for name in request)
    assert not any("HARNESS_CACHE" in problem for problem in doctor.problems(GOOD, []))
    assert doctor.machine(Cache(tmp_path / "new")).unusable == ""
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["notes.txt", "somebody's"]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache that holds one artifact, which is not what the lock says."""
    cache = Cache(tmp_path)
    artifact = distributions.load("trino-476").artifacts[-1]
    path = cache.artifact(artifact)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a jar")
    cache.stamp(artifact)
    return cache


def test_verifying_finds_removes_and_names_what_changed(cache: Cache) -> None:
    out = io.StringIO()
    (changed,) = doctor.verify(["trino-476"], cache, Console(file=out))
    assert hashlib.sha256(b"not a jar").hexdigest() not in changed.parent.name
    assert not changed.exists()
    assert str(changed) in out.getvalue()
    assert doctor.verify(["trino-476"], cache, Console(file=out)) == ()
    assert "every artifact in the cache is what its lock says" in out.getvalue()


def test_the_command_verifies_and_ends_with_the_status_of_a_broken_environment(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(cache.root))
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    assert app.main(["doctor", "--verify"]) == 3
    assert "changed since it was fetched, removed: " in capsys.readouterr().out
