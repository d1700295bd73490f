"""PySpark in another version: fetched by hash, unpacked as Spark's own archive is."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import pytest

from harness.artifacts import distributions, fetch, pyspark_home
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress

FILES = {
    "deps/bin/spark-submit": "bin/spark-submit",
    "deps/jars/spark-core.jar": "jars/spark-core.jar",
    "lib/py4j-0.10-src.zip": "python/lib/py4j-0.10-src.zip",
    "pyspark/__init__.py": "python/pyspark/__init__.py",
    "setup.py": "",
}
"""What a source archive holds, and where it goes; empty: nowhere."""


def old(version: str = "3.4.4") -> Distribution:
    return distributions.load(f"spark-{version}-hudi-0.14.0@container")


def pip_that_writes_an_archive(
    command: Sequence[str], **_: object
) -> subprocess.CompletedProcess[str]:
    assert "--require-hashes" in command
    assert "--no-binary=:all:" in command
    requirement = Path(command[command.index("--requirement") + 1]).read_text()
    assert requirement.startswith("pyspark==3.4.4 --hash=sha256:b831a99c1aeb058b")
    file = Path(command[command.index("--dest") + 1]) / "pyspark-3.4.4.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        for name in FILES:
            entry = tarfile.TarInfo(f"pyspark-3.4.4/{name}")
            entry.size = len(name)
            tar.addfile(entry, io.BytesIO(name.encode()))
    return subprocess.CompletedProcess(command, 0, "", "")


def test_it_is_unpacked_as_sparks_own_archive_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", pip_that_writes_an_archive)
    archive = pyspark_home.required_archive(old())
    assert archive is not None
    cache = Cache(tmp_path)
    home = pyspark_home.ensure(archive, cache, Progress())
    there = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert there == set(filter(None, FILES.values()))
    assert (home / "bin/spark-submit").stat().st_mode & 0o100
    monkeypatch.setattr(subprocess, "run", None)
    assert pyspark_home.ensure(archive, cache, Progress()) == home


def test_it_is_missing_until_it_is_there(tmp_path: Path) -> None:
    (missing,) = (m for m in fetch.missing(old(), Cache(tmp_path)) if m.name.startswith("pyspark"))
    assert (missing.name, missing.size) == ("pyspark==3.4.4", 311408584)


def test_what_the_environment_has_is_not_fetched(tmp_path: Path) -> None:
    for name in ("spark-3.5.8", "spark-3.5.8-hudi-1.0.2", "trino-476"):
        assert pyspark_home.required_archive(distributions.load(name)) is None
        assert all("pyspark" not in m.name for m in fetch.missing(old("3.5.8"), Cache(tmp_path)))


def test_an_environment_with_another_version_has_the_shipped_one_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "4.0.0")
    archive = pyspark_home.required_archive(distributions.load("spark-3.5.8"))
    assert archive is not None
    assert archive.name == "pyspark==3.5.8"


def test_a_version_that_nobody_knows_is_reported() -> None:
    with pytest.raises(
        EnvironmentProblem, match=r"PySpark 3.4.1 is not known; known are 3.1.3, 3.3"
    ):
        pyspark_home.required_archive(old("3.4.1"))
