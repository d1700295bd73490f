import os
import sys
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts import distributions
from harness.artifacts.fetch import Installation
from harness.runtime import jvm_cds
from harness.runtime.jvm_cds import ClassArchive
from harness.runtime.process import Command, running

JAVA: Final = """#!{python}
import pathlib, sys
files = [text.partition("=")[2] for text in sys.argv if text.startswith("-XX:SharedArchiveFile=")]
if "-Xshare:dump" in sys.argv:
    pathlib.Path(files[0]).write_text("{content}")
sys.exit("-Xshare:on" in sys.argv and pathlib.Path(files[0]).read_text() != "whole")
"""
JCMD: Final = """#!{python}
import pathlib, sys
pathlib.Path(sys.argv[-1]).write_text("classes")
sys.exit({status})
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def installed(
    tmp_path: Path, name: str = "trino-476", content: str = "whole", status: int = 0
) -> Installation:
    java = tmp_path / "jre-1" / "bin" / "java"
    program(java, JAVA.format(python=sys.executable, content=content))
    program(java.with_name("jcmd"), JCMD.format(python=sys.executable, status=status))
    lib = tmp_path / "lib"
    lib.mkdir(exist_ok=True)
    (lib / "a.jar").write_bytes(b"jar")
    home = tmp_path / "cache" / "archives"
    return Installation(distributions.load(name), java, tmp_path, (), home)


def first(installation: Installation) -> ClassArchive:
    assert installation.home is not None
    return jvm_cds.archive_for(installation, [installation.home / "lib"])


def archive_of(installation: Installation) -> ClassArchive:
    first(installation)
    return first(installation)


def keep(archive: ClassArchive, installation: Installation, folder: Path) -> None:
    sleeper = (sys.executable, "-c", "import sys, signal; signal.pause()")
    with running(Command(sleeper, folder, folder / "log")) as process:
        archive.keep(process, installation)


def files(installation: Installation) -> list[str]:
    assert installation.archives is not None
    return sorted(path.name for path in installation.archives.glob("*.jsa"))


def test_the_second_start_records_and_the_next_one_takes_what_was_retained(tmp_path: Path) -> None:
    installation = installed(tmp_path)
    without = first(installation)  # a cache that is used once pays for no archive of a server
    assert without.base is not None
    assert without.options == ClassArchive(without.base).options
    recording = first(installation)
    assert "-XX:+RecordDynamicDumpInfo" in recording.options
    keep(recording, installation, tmp_path)
    second = archive_of(installation)
    assert second.path is not None
    assert "-XX:+RecordDynamicDumpInfo" not in second.options
    assert f"-XX:SharedArchiveFile={second.base}{os.pathsep}{second.path}" in second.options
    assert files(installation) == ["base-jre-1.jsa", second.path.name]


def test_jars_that_changed_get_an_archive_of_their_own(tmp_path: Path) -> None:
    installation = installed(tmp_path)
    keep(archive_of(installation), installation, tmp_path)
    before = archive_of(installation)
    (tmp_path / "lib" / "a.jar").write_bytes(b"another")
    after = archive_of(installation)
    assert (before.is_due, after.is_due) == (False, True)
    assert before.path != after.path


def test_what_was_made_on_another_archive_of_the_jre_is_made_again(tmp_path: Path) -> None:
    installation = installed(tmp_path)
    keep(archive_of(installation), installation, tmp_path)
    before = archive_of(installation)
    assert before.path is not None
    os.utime(before.path, ns=(0, 0))
    after = first(installation)
    assert (before.is_due, after.is_due) == (False, True)
    keep(after, installation, tmp_path)
    assert first(installation) == before


def test_an_unusable_archive_of_the_jre_is_made_again(tmp_path: Path) -> None:
    installation = installed(tmp_path)
    base = archive_of(installation).base
    assert base is not None
    base.write_text("cut off")
    assert first(installation) == ClassArchive()
    assert first(installation).is_due
    assert base.read_text() == "whole"


def test_a_jre_whose_archive_cannot_be_used_starts_without_any(tmp_path: Path) -> None:
    installation = installed(tmp_path, content="half")
    assert archive_of(installation).options == ()
    assert files(installation) == []


@pytest.mark.parametrize("name", ["trino-368", "hive-4.2.1"])
def test_java_11_and_21_have_only_the_archive_of_their_own_classes(
    name: str, tmp_path: Path
) -> None:
    installation = installed(tmp_path, name)
    class_archive = archive_of(installation)
    assert class_archive.base is not None
    assert (class_archive.path, class_archive.is_due) == (None, False)


def test_nothing_is_made_of_a_server_that_is_gone(tmp_path: Path) -> None:
    installation = installed(tmp_path)
    archive = archive_of(installation)
    with running(Command((sys.executable, "-c", ""), tmp_path, tmp_path / "log")) as process:
        process.wait(60)
        archive.keep(process, installation)
    assert files(installation) == ["base-jre-1.jsa"]


@pytest.mark.parametrize("folder", [None, Path("a:b")])
def test_where_archives_cannot_be_retained_servers_start_without(
    folder: Path | None, tmp_path: Path
) -> None:
    there = installed(tmp_path)
    installation = Installation(there.distribution, there.java, there.home, (), folder)
    assert archive_of(installation) == ClassArchive()
    (tmp_path / "cache").write_text("a file, no folder")  # which cannot be written to
    assert archive_of(there).options == ()
