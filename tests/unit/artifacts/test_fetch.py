from __future__ import annotations

import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from harness.artifacts import fetch, python_index, repository
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution, MainClass, coordinates
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from tests.builders.repository_server import Server, serving
from tests.builders.small_distribution import COMPILED, FILES, PATCH, WHOLE, artifact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Machine(NamedTuple):
    cache: Cache
    server: Server


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Serve all files; the JRE, which pip would bring, is there already."""
    cache = Cache(tmp_path)
    python_index.java_home("17").folder(cache).mkdir(parents=True)
    with serving() as server:
        server.files = {f"/{coordinates(k).repository_path}": v for k, v in FILES.items()}
        monkeypatch.setenv(repository.ENVIRONMENT_VARIABLE, server.url)
        yield Machine(cache, server)


def installed(machine: Machine, distribution: Distribution = WHOLE) -> fetch.Installation:
    return fetch.ensure(distribution, machine.cache, Progress())


def test_everything_is_there_afterwards(machine: Machine) -> None:
    installation = installed(machine)
    assert installation.home is not None
    home = installation.home
    assert {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()} == {
        "lib/a.jar",
        "plugin/hive/b.jar",
        "plugin/hive/reader-1.jar",  # in the place of the archive's
        "plugin/hive/reader-spi-0.9.jar",
        "patches/p/A$B.class",
    }
    patched = (home / "patches" / "p" / "A$B.class").read_bytes()
    assert patched == COMPILED.replace(b"\x00\x03old", b"\x00\x05newer")
    assert [path.read_bytes() for path in installation.jars("front")] == [b"front"]
    assert [path.name for path in installation.jars("lib")] == ["exec-1.jar"]
    assert installation.java == python_index.java_home("17").folder(machine.cache) / "bin" / "java"
    assert not machine.cache.artifact(WHOLE.artifacts[0]).exists()  # the archive is gone
    assert installed(machine) == installation
    assert len(machine.server.asked) == len(WHOLE.artifacts), "and nothing is asked again"


def test_a_server_is_put_together_of_jars_and_of_what_is_made_here(machine: Machine) -> None:
    whole = replace(
        WHOLE,
        artifacts=(
            artifact("g:reader:1:jar", "home/lib"),
            artifact("g:reader:1:jar", "home/plugin/hive"),
        ),
        patches=(),
        main_class=MainClass("Begin", "p.Server.start", "1"),
        services={"plugin/hive": {"p.Plugin": "p.HivePlugin"}},
        without_login=("plugin/hive",),
    )
    assert [missing.name for missing in fetch.missing(whole, machine.cache)] == ["reader-1.jar"]
    home = installed(machine, whole).home
    assert [path for path, _ in machine.server.asked] == ["/g/reader/1/reader-1.jar"], (
        "once, though it has two folders"
    )
    assert home is not None
    assert (home / "lib" / "reader-1.jar").samefile(home / "plugin" / "hive" / "reader-1.jar")
    with zipfile.ZipFile(home / "lib" / "Begin.jar") as jar:
        assert jar.read("Begin.class")[:4] == b"\xca\xfe\xba\xbe"
    with zipfile.ZipFile(home / "plugin" / "hive" / "p.Plugin.jar") as jar:
        assert jar.read("META-INF/services/p.Plugin") == b"p.HivePlugin"
    with zipfile.ZipFile(home / "plugin" / "hive" / f"{fetch.UNIX_LOGIN}.jar") as jar:
        assert jar.namelist() == ["com/sun/security/auth/module/UnixLoginModule.class"]


@pytest.mark.parametrize(
    ("names", "contents"),
    [
        (["g:front:1:jar"], [b"front"]),
        (["g:front:1:jar", "g:also-front:1:jar"], [b"front", b"front"]),
        (["g:exec:1:jar", "g:front:1:jar"], [FILES["g:exec:1:jar"], b"front"]),
    ],
    ids=["one", "two of one content", "in the order of the lock"],
)
def test_jars_without_a_tree_are_all_there(
    machine: Machine, names: list[str], contents: list[bytes]
) -> None:
    jars = tuple(artifact(name, "front") for name in names)
    installation = installed(machine, replace(WHOLE, artifacts=jars, patches=()))
    assert [path.read_bytes() for path in installation.jars("front")] == contents
    assert (installation.home, installation.patches) == (None, None)


def test_verify_finds_and_removes_what_changed(machine: Machine) -> None:
    (front,) = installed(machine).jars("front")
    assert fetch.verify(WHOLE, machine.cache) == ()
    front.chmod(0o644)
    front.write_bytes(b"fronT")
    assert fetch.verify(WHOLE, machine.cache) == (front,)
    assert [m.name for m in fetch.missing(WHOLE, machine.cache)] == ["front-1.jar"]
    assert installed(machine).jars("front")[0].read_bytes() == b"front"


def test_a_cache_that_is_carried_elsewhere_needs_no_network(
    machine: Machine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    there = installed(machine)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    tar = shutil.make_archive(str(elsewhere / "engines"), "tar", tmp_path)
    shutil.unpack_archive(tar, elsewhere, filter="tar")
    asked, cache = len(machine.server.asked), Cache(elsewhere, offline=True)
    assert fetch.missing(WHOLE, cache) == ()
    carried = fetch.ensure(WHOLE, cache, Progress())
    assert carried.home == elsewhere / str(there.home).removeprefix(f"{tmp_path}/")
    assert [path.read_bytes() for path in carried.jars("front")] == [b"front"]
    assert len(machine.server.asked) == asked


def test_several_at_once_download_everything_once(machine: Machine) -> None:
    with ThreadPoolExecutor(4) as pool:
        installations = list(pool.map(lambda _: installed(machine), range(4)))
    assert installations == [installations[0]] * 4
    assert len(machine.server.asked) == len(WHOLE.artifacts)


def test_a_tree_that_cannot_be_made_is_absent_and_can_be_made_later(machine: Machine) -> None:
    wrong = replace(WHOLE, patches=(replace(PATCH, class_="p.Gone"),))
    with pytest.raises(EnvironmentProblem, match=r"x-1: cannot patch p\.Gone of exec-1\.jar"):
        installed(machine, wrong)
    unpacked = machine.cache.root / "unpacked"
    assert [path.name for path in unpacked.iterdir() if path.is_dir()] == []
    assert installed(machine).home is not None


def test_a_disk_that_is_too_full_is_reported_before_anything_is_fetched(machine: Machine) -> None:
    huge = replace(WHOLE.artifacts[2], size=10**18)
    with pytest.raises(EnvironmentProblem, match="too full: 1000000000000 MB are needed"):
        installed(machine, replace(WHOLE, artifacts=(huge,), patches=()))
    assert machine.server.asked == []


def test_what_cannot_be_had_is_reported_with_its_coordinates_and_the_rest_is_retained(
    machine: Machine,
) -> None:
    del machine.server.files[f"/{coordinates('g:exec:1:jar').repository_path}"]
    with pytest.raises(EnvironmentProblem, match=r"^g:exec:1:jar: http://.*exec-1\.jar: 404 "):
        installed(machine)
    lacking = [missing.name for missing in fetch.missing(WHOLE, machine.cache)]
    assert "exec-1.jar" in lacking
    assert "server-1.tar.gz" not in lacking
