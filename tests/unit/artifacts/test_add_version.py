import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.artifacts import add_version, distributions, fetch, python_index
from harness.artifacts.cache import MARK, Cache
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from tests.builders.repository_server import Server, serving

NAME = "trino-470"
FOLDERS = ("lib", "plugin/hive", "plugin/hudi", "plugin/iceberg", "plugin/delta-lake")
PATH = "/io/trino/trino-server/470/trino-server-470.tar.gz"


def tarball() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name in (f"{folder}/a.jar" for folder in FOLDERS):
            entry = tarfile.TarInfo(f"trino-server-470/{name}")
            entry.size = 700_000
            tar.addfile(entry, io.BytesIO(b"x" * entry.size))
    return content.getvalue()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving() as repository:
        monkeypatch.setenv("HARNESS_MAVEN_REPOSITORY", repository.url)
        repository.files[PATH] = tarball()
        stated = hashlib.sha1(repository.files[PATH], usedforsecurity=False).hexdigest()
        repository.files[f"{PATH}.sha1"] = stated.encode()
        yield repository


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    empty = Cache(tmp_path / "cache")
    home = python_index.java_home("25").folder(empty)
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_bytes(b"")
    return empty


def test_what_was_added_is_a_distribution_that_is_there(
    server: Server, cache: Cache, tmp_path: Path
) -> None:
    file = add_version.add(NAME, tmp_path / "new", cache, Progress())
    assert file == tmp_path / "new" / f"{NAME}.yaml"
    asked = len(server.asked)
    distribution, content = distributions.load(NAME), server.files[PATH]
    (archive,) = distribution.artifacts
    assert (archive.size, archive.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert archive.members == FOLDERS
    assert (distribution.version, distribution.disk_mb) == ("470", 4)
    assert fetch.missing(distribution, cache) == ()
    home = fetch.ensure(distribution, cache, Progress()).home
    assert home
    assert (home / "lib" / "a.jar").is_file()
    assert len(server.asked) == asked, "nothing is fetched twice"
    (cache.root / MARK).unlink()
    cache.check()  # all that is in it is what a cache holds
    locks = distributions.custom_locks([f"{NAME}@container", "trino-476"])
    assert locks == {NAME: file.read_text()}


def test_a_file_that_is_not_what_the_repository_says_is_refused(
    server: Server, cache: Cache, tmp_path: Path
) -> None:
    server.files[f"{PATH}.sha1"] = b"0" * 40
    with pytest.raises(EnvironmentProblem, match=f"the repository says {'0' * 40}; removed"):
        add_version.add(NAME, tmp_path, cache, Progress())
    assert not (tmp_path / f"{NAME}.yaml").exists()
    assert not list((cache.root / "artifacts").rglob("*.tar.gz*.part"))


def test_offline_nothing_is_downloaded(server: Server, cache: Cache, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="must be downloaded, and the harness is offline"):
        add_version.add(NAME, tmp_path, Cache(cache.root, offline=True), Progress())
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("trino-476", "the harness already has it"),
        ("polars-2.1", "the harness already has it, as polars-2.1.0"),
        ("drill-1", "there are rules only for .* spark from 3.1 on, trino from 351 on"),
        ("hive-4.0.0", "Hive's hundred jars must be chosen by Maven; docs/locks.md"),
        (
            "trino-480",
            "no rule says which files .* shipped are .*, trino-483; with Docker there is",
        ),
        ("polars-1.30.0", "there are rules only for polars from 1.44.2 on$"),
        ("spark-4.1.4-iceberg", "each product has a version, as in 'spark 4.1.4 iceberg 1.12.0'$"),
        (
            "spark-4.0.1-hudi-1.2.0",
            r"nothing is known for these together; there is spark >=3\.5,<3\.6 with hudi >=0\.15; ",
        ),
        (
            "spark-4.3.0-iceberg-1.12.0",
            "nothing .* with iceberg <1.12; spark >=4.1,<4.2 with iceberg >=1.11$",
        ),
        ("spark-3.5.9-delta-4.4.0", "nothing .* there is spark >=3.5,<3.6 with delta >=3.0,<4; "),
    ],
)
def test_what_cannot_be_added_is_reported_with_the_reason(
    name: str, reason: str, cache: Cache, tmp_path: Path
) -> None:
    with pytest.raises(UsageProblem, match=f"{name} cannot be added: {reason}"):
        add_version.add(name, tmp_path, cache, Progress())


REQUIRED = ("pyarrow>=8", "fsspec<2", "x; extra == 'y'")


class Index:
    """What pip would choose: a wheel for each requirement."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def choose(self, requirements: Sequence[str], work: Path) -> list[Path]:
        self.asked.extend(requirements)
        return [self._wheel(requirement, work) for requirement in requirements]

    def _wheel(self, requirement: str, work: Path) -> Path:
        project, version = requirement.partition("==")[::2]
        wheel = work / f"{project.partition('<')[0]}-{version or '2.0'}-py3-none-any.whl"
        needs = (
            "Requires-Dist: pyarrow>=8\nRequires-Dist: fsspec<2\nRequires-Dist: x; extra == 'y'\n"
        )
        name = f"Name: {wheel.name.partition('-')[0]}\nVersion: {version or '2.0'}\n"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{wheel.stem}.dist-info/METADATA", name + (needs if version else ""))
        return wheel

    def download(self, files: Sequence[python_index.IndexFile], work: Path) -> list[Path]:
        wheels = [work / f"{file.project.replace('-', '_')}-1-py3-none-any.whl" for file in files]
        for wheel in wheels:
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(f"{wheel.stem}/__init__.py", "")
        return wheels


def test_of_a_library_its_own_wheels_are_new_and_what_they_require_otherwise(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index()
    monkeypatch.setattr(python_index, "choose", index.choose)
    monkeypatch.setattr(python_index, "download", index.download)
    add_version.add("pyiceberg-0.11.1", tmp_path, cache, Progress())
    assert index.asked == ["pyiceberg==0.11.1", "fsspec<2"]
    added, shipped = distributions.load("pyiceberg-0.11.1"), distributions.load("pyiceberg-0.12.0")
    assert added.settings["iceberg"] == "0.11.1"
    new = {package for package in added.wheels if package not in shipped.wheels}
    assert new == {"pyiceberg==0.11.1", "fsspec==2.0"}
    assert [*added.wheels["pyiceberg==0.11.1"]] == ["any"]
    left = {package.partition("==")[0] for package in shipped.wheels if package not in added.wheels}
    assert left == {"pyiceberg", "fsspec"}
    assert fetch.missing(added, cache) == ()


def test_a_library_without_lock_data_is_no_container() -> None:
    why = distributions.why_not("pyiceberg-0.11.9@container")
    assert (
        "'harness engines add pyiceberg 0.11.9' writes it, if it exists; it is a library of Python"
        in why
    )
