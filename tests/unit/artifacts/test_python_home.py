from __future__ import annotations

import dataclasses
import hashlib
import io
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.artifacts import bundle, distributions, fetch, python_home
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Wheel
from harness.artifacts.python_index import IndexFile
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress

SHIPPED = [name for name in distributions.names() if distributions.load(name).wheels]
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
MACHINES = ("linux-x86_64", "linux-aarch64", "darwin-arm64", "darwin-x86_64")
QUIET = Progress()


def wheel(project: str, machine: str) -> Wheel:
    digest = hashlib.sha256(f"{project} {machine}".encode()).hexdigest()
    return Wheel(project, "1.0", machine, 10, digest)


PROGRAM = dataclasses.replace(
    distributions.load("trino-476"),
    name="program-1",
    jre="",
    artifacts=(),
    wheels=(
        wheel("native", "linux-x86_64-cp311"),
        wheel("native", "linux-x86_64-cp312"),
        wheel("stable", "linux-x86_64"),
        wheel("pure", "any"),
    ),
)


def on(monkeypatch: pytest.MonkeyPatch, *machines: str) -> None:
    monkeypatch.setattr("harness.artifacts.python_index.machines", lambda: (*machines, "any"))


@pytest.fixture(autouse=True)
def this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "linux-x86_64-cp312", "linux-x86_64")


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A pip that has every wheel; what it was asked for."""
    asked: list[str] = []

    def run(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        work = Path(command[command.index("--dest") + 1])
        asked.append(Path(command[command.index("--requirement") + 1]).read_text().strip())
        project = asked[-1].partition("==")[0]
        with zipfile.ZipFile(work / f"{project}-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr(f"{project}/__init__.py", "")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_the_wheels_are_those_of_this_machine_and_this_python() -> None:
    wheels = python_home.required_wheels(PROGRAM)
    assert [file.sha256 for file in wheels] == [
        wheel("native", "linux-x86_64-cp312").sha256,
        wheel("stable", "linux-x86_64").sha256,
        wheel("pure", "any").sha256,
    ]


def test_a_program_of_java_wants_none(tmp_path: Path) -> None:
    distribution = distributions.load("trino-476")
    assert python_home.required_wheels(distribution) == ()
    assert python_home.possible_paths(distribution, Cache(tmp_path)) == ()


def test_a_python_that_a_package_has_no_wheel_for_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "linux-x86_64-cp399", "linux-x86_64")
    with pytest.raises(EnvironmentProblem) as error:
        fetch.ensure(PROGRAM, Cache(tmp_path), QUIET)
    assert str(error.value) == (
        "program-1: no wheel of native==1.0 is known for linux-x86_64-cp399; "
        "only for linux-x86_64-cp311, linux-x86_64-cp312"
    )
    assert not python_home.fits(PROGRAM)
    assert fetch.missing(PROGRAM, Cache(tmp_path)) == ()


def test_all_packages_lie_side_by_side_and_are_fetched_once(tmp_path: Path, pip: list[str]) -> None:
    cache = Cache(tmp_path)
    assert [missing.name for missing in fetch.missing(PROGRAM, cache)] == [
        "native==1.0",
        "stable==1.0",
        "pure==1.0",
    ]
    installation = fetch.ensure(PROGRAM, cache, QUIET)
    assert installation.java is None
    assert installation.home
    assert {path.name for path in installation.home.iterdir()} == {"native", "stable", "pure"}
    assert pip[2] == f"pure==1.0 --hash=sha256:{wheel('pure', 'any').sha256}"
    assert fetch.missing(PROGRAM, cache) == ()
    assert fetch.ensure(PROGRAM, cache, QUIET) == installation
    assert len(pip) == len(python_home.required_wheels(PROGRAM))


def test_a_wheel_that_was_brought_along_is_not_fetched(tmp_path: Path, pip: list[str]) -> None:
    cache, wheels = Cache(tmp_path), python_home.required_wheels(PROGRAM)
    brought = tmp_path / "brought"
    with zipfile.ZipFile(brought, "w") as archive:
        archive.writestr("native/here.py", "")
    python_home.store_wheel(brought, wheels[0], cache)
    assert len(python_home.missing(PROGRAM, cache)) == len(wheels) - 1
    home = python_home.ensure(wheels, cache, QUIET)
    assert (home / "native" / "here.py").is_file()
    assert [text.partition("==")[0] for text in pip] == ["stable", "pure"]
    assert not python_home.imported_wheel(wheels[0], cache).exists()


def test_a_bundle_brings_the_wheels_of_this_machine_once(
    tmp_path: Path, pip: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("pure/here.py", "")
    data = content.getvalue()
    brought = Wheel("pure", "1.0", "any", len(data), hashlib.sha256(data).hexdigest())
    program = dataclasses.replace(PROGRAM, wheels=(brought, wheel("other", "other-machine-cp1")))
    monkeypatch.setattr(distributions, "names", lambda: ("program-1", "elsewhere-1"))
    here = dataclasses.replace(program, wheels=(brought,))
    monkeypatch.setattr(distributions, "load", lambda name: here if "prog" in name else program)

    def download(_: IndexFile, work: Path) -> Path:
        (work / "x.whl").write_bytes(data)
        return work / "x.whl"

    monkeypatch.setattr("harness.artifacts.python_index.download", download)
    file = tmp_path / "x.tar"
    bundle.export([here], file, Cache(tmp_path / "there"), QUIET)
    cache = Cache(tmp_path / "here", offline=True)
    assert bundle.load(file, cache, QUIET).new == 1
    home = fetch.ensure(here, cache, QUIET).home
    assert home
    assert (home / "pure" / "here.py").is_file()
    assert bundle.load(file, cache, QUIET).new == 0
    assert pip == []


def test_what_pip_cannot_have_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "no such version")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(EnvironmentProblem, match=r"native==1\.0: no such version"):
        fetch.ensure(PROGRAM, Cache(tmp_path), QUIET)
    assert not python_home.folder(python_home.required_wheels(PROGRAM), Cache(tmp_path)).exists()


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("python", PYTHONS)
def test_what_is_shipped_has_every_wheel_for_linux_and_macos(
    name: str, machine: str, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, f"{machine}-{python}", machine)
    distribution = distributions.load(name)
    projects = {locked.project for locked in distribution.wheels}
    assert {wheel.project for wheel in python_home.required_wheels(distribution)} == projects


def test_other_wheels_are_another_distribution() -> None:
    other = dataclasses.replace(PROGRAM, wheels=PROGRAM.wheels[1:3])
    assert distributions.digest(other) != distributions.digest(PROGRAM)
