from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from harness.artifacts import unpack
from harness.artifacts.distribution import CodePatch, MainClass
from harness.artifacts.java_classes import (
    login_module,
    replace_code,
    replace_constants,
    texts,
    written,
)
from harness.artifacts.unpack import unpack_tar, unpack_wheel_folder
from harness.core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def file(name: str, content: bytes = b"x", mode: int = 0o644) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    return info, content


def link(name: str, target: str, kind: bytes = tarfile.LNKTYPE) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def tar(folder: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    path = folder / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_only_the_members_asked_for_are_unpacked_without_the_top_folder(tmp_path: Path) -> None:
    names = ("top/lib/a.jar", "top/library/b.jar", "top/plugin/hive/c.jar", "top/README")
    path = tar(tmp_path, *(file(name) for name in names))
    unpack_tar(path, tmp_path / "out", ["lib", "README"])
    assert files(tmp_path / "out") == {"lib/a.jar": b"x", "README": b"x"}


def test_a_file_whose_content_belongs_to_another_plugin_is_there(tmp_path: Path) -> None:
    path = tar(
        tmp_path,
        file("top/plugin/other/shared.jar", b"shared"),
        link("top/plugin/hive/shared.jar", "top/plugin/other/shared.jar"),
        link("top/lib/shared.jar", "top/plugin/hive/shared.jar"),
    )
    unpack_tar(path, tmp_path / "out", ["plugin/hive", "lib"])
    assert files(tmp_path / "out") == {
        "plugin/hive/shared.jar": b"shared",
        "lib/shared.jar": b"shared",
    }
    out = tmp_path / "out"
    assert (out / "lib/shared.jar").samefile(out / "plugin/hive/shared.jar"), (
        "its space is taken once"
    )


def test_programs_stay_executable_and_all_is_read_only(tmp_path: Path) -> None:
    path = tar(tmp_path, file("top/bin/run", mode=0o755), file("top/lib/a"))
    unpack_tar(path, tmp_path / "out", [])
    modes = [(tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("bin/run", "lib/a")]
    assert modes == [0o555, 0o444]


OUTSIDE = "leaves the tree"
ODD = "neither a file, a folder nor a hard link"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([file("top/../../evil")], OUTSIDE),
        ([file("/etc/evil")], OUTSIDE),
        ([file("../evil")], OUTSIDE),
        ([file("top/lib/../../../e")], OUTSIDE),
        ([link("top/lib/b", "../../etc/passwd")], OUTSIDE),
        ([link("top/lib/b", "/etc/passwd")], OUTSIDE),
        ([link("top/lib/b", "top/lib/c"), link("top/lib/c", "top/lib/b")], "in a circle"),
        ([link("top/lib/b", "b", tarfile.SYMTYPE)], ODD),
        ([link("top/lib/b", "b", tarfile.CHRTYPE)], ODD),
        ([link("top/lib/b", "b", tarfile.FIFOTYPE)], ODD),
    ],
)
def test_an_archive_that_would_do_harm_is_refused_and_nothing_written(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], reason: str
) -> None:
    path = tar(tmp_path, file("top/lib/a"), *members)
    with pytest.raises(EnvironmentProblem, match=reason):
        unpack_tar(path, tmp_path / "out", ["lib"])
    assert not (tmp_path / "out").exists()


def test_a_member_or_a_content_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tar(tmp_path, file("top/lib/a"), link("top/lib/b", "top/lib/gone"))
    with pytest.raises(EnvironmentProblem, match=r"'lib/gone'.*lib/b"):
        unpack_tar(path, tmp_path / "other", ["lib"])
    with pytest.raises(EnvironmentProblem, match="no member 'plugin/hudi'"):
        unpack_tar(path, tmp_path / "out", ["lib", "plugin/hudi"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"<html>not found</html>",
        *(lambda whole, cut=cut: whole[: int(len(whole) * cut)] for cut in (0.1, 0.5, 0.99)),
    ],
    ids=["no archive", "cut at 10 %", "cut at half", "cut at 99 %"],
)
def test_a_broken_archive_is_reported(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = tar(tmp_path, file("top/a", os.urandom(100_000)))
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(EnvironmentProblem, match=r"a\.tar\.gz: cannot be unpacked"):
        unpack_tar(path, tmp_path / "out", [])


def test_a_name_that_no_file_system_accepts_is_reported(tmp_path: Path) -> None:
    info, content = file("top/a")
    info.pax_headers = {"path": "top/a\0b"}
    with pytest.raises(EnvironmentProblem, match="cannot be unpacked"):
        unpack_tar(tar(tmp_path, (info, content)), tmp_path / "out", [])


@pytest.mark.parametrize("members", [["lib"], ["bomb"], []])
@pytest.mark.parametrize(
    "bomb",
    [
        [file("top/bomb", bytes(4 << 20))],
        [file("top/" + "x" * (4 << 20))],
        [file(f"top/{at}", b"") for at in range(11)],
    ],
    ids=["of content", "of a name", "of many members"],
)
def test_a_bomb_is_refused_whichever_members_are_requested(
    tmp_path: Path,
    bomb: list[tuple[tarfile.TarInfo, bytes]],
    members: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unpack, "MOST_BESIDE", 1 << 16)
    monkeypatch.setattr(unpack, "MOST_MEMBERS", 10)
    path = tar(tmp_path, file("top/lib/a"), *bomb)
    with pytest.raises(EnvironmentProblem, match="refused, it holds far more than an archive of"):
        unpack_tar(path, tmp_path / "out", members)
    assert not (tmp_path / "out").exists()


def test_a_member_that_stands_twice_never_goes_over_the_first(tmp_path: Path) -> None:
    path = tar(tmp_path, file("top/a", b"first"), file("top/a", b"second"))
    with pytest.raises(OSError, match="File exists"):
        unpack_tar(path, tmp_path / "out", [])


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return path


def test_a_wheels_folder_is_unpacked_with_its_programs_executable(tmp_path: Path) -> None:
    names = ("p/jre/bin/java", "p/jre/lib/jspawnhelper", "p/jre/release", "p/__init__.py")
    unpack_wheel_folder(wheel(tmp_path, *names), "p/jre", tmp_path / "out")
    out = tmp_path / "out"
    modes = {name: (out / name).stat().st_mode & 0o777 for name in files(out)}
    assert modes == {"bin/java": 0o555, "lib/jspawnhelper": 0o555, "release": 0o444}


@pytest.mark.parametrize("name", ["p/jre/../../../evil", "/evil"])
def test_a_wheel_with_a_path_that_leaves_the_tree_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(EnvironmentProblem, match="leaves the tree"):
        unpack_wheel_folder(wheel(tmp_path, name), "p/jre", tmp_path / "out")


def test_a_wheel_with_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    entry = zipfile.ZipInfo("p/jre/lib/link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(EnvironmentProblem, match="neither a file, a folder nor a hard link"):
        unpack_wheel_folder(path, "p/jre", tmp_path / "out")


@pytest.mark.parametrize("content", [b"<html>", b"", b"PK\3\4"])
def test_what_is_no_wheel_is_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.whl"
    path.write_bytes(content)
    with pytest.raises(EnvironmentProblem, match=r"a\.whl: cannot be unpacked"):
        unpack_wheel_folder(path, "p/jre", tmp_path / "out")


def utf8(text: str) -> bytes:
    return b"\x01" + struct.pack(">H", len(text)) + text.encode()


def compiled(*entries: bytes, slots: int, rest: bytes = b"\x00\x21rest") -> bytes:
    return b"\xca\xfe\xba\xbe\x00\x00\x00\x34" + struct.pack(">H", slots) + b"".join(entries) + rest


def test_only_whole_constants_are_replaced_and_the_rest_is_retained() -> None:
    before = compiled(utf8("parent"), utf8("parentOffset"), utf8("grandparent"), slots=4)
    after = replace_constants(before, {"parent": "root"})
    assert after == compiled(utf8("root"), utf8("parentOffset"), utf8("grandparent"), slots=4)


def test_every_kind_of_entry_is_stepped_over() -> None:
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4}
    sizes |= {15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    # Filled with ones, so that a wrong step would take a body for the start of a UTF-8 entry.
    others = [bytes([tag]) + b"\x01" * size for tag, size in sizes.items()]
    slots = 1 + len(others) + 2 + 1  # long and double (tags 5 and 6) take two slots
    after = replace_constants(compiled(*others, utf8("old"), slots=slots), {"old": "newer"})
    assert after == compiled(*others, utf8("newer"), slots=slots)


LOOP = CodePatch(find="2a b6 .. .. 4d", put="13 tt tt 4b 00", text="here")


def test_instructions_are_replaced_and_refer_to_the_added_text() -> None:
    looks_so = b"\x01\x00\x05\x2a\xb6\x12\x34\x4d"  # and is a constant, which is left alone
    before = compiled(looks_so, slots=2, rest=b"<\x2a\xb6\x12\x0a\x4d>")
    string = b"\x08\x00\x02"  # of the text, which is entry 2; the string itself is entry 3
    after = replace_code(before, LOOP)
    assert after == compiled(
        looks_so, utf8("here"), string, slots=4, rest=b"<\x13\x00\x03\x4b\x00>"
    )


@pytest.mark.parametrize("times", [0, 2])
def test_instructions_that_are_not_there_once_are_an_error(times: int) -> None:
    before = compiled(utf8("a"), slots=2, rest=b"<\x2a\xb6\x12\x34\x4d>" * times)
    with pytest.raises(ValueError, match=f"there {times} times, not once"):
        replace_code(before, LOOP)


def test_a_class_that_is_written_names_what_it_calls_and_a_login_always_succeeds() -> None:
    main = written(MainClass("TrinoServer", "io.trino.server.Server.start", "483"))
    assert {"TrinoServer", "main", "io/trino/server/Server", "start", "483"} <= {*texts(main)}
    login = login_module("a.b.Login")
    methods = {"initialize", "login", "commit", "abort", "logout"}
    assert {"a/b/Login", "javax/security/auth/spi/LoginModule", *methods} <= {*texts(login)}
    assert login.count(b"\x04\xac") == 4, "iconst_1, ireturn"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (compiled(utf8("a"), slots=2), "no UTF-8 constant gone, lost"),
        (b"PK\x03\x04 and more", "not a compiled Java class"),
        (compiled(b"\x63\x00", slots=2), "unknown tag 99"),
    ],
)
def test_a_class_that_the_patch_was_not_made_for_is_an_error(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace_constants(content, {"a": "b", "lost": "x", "gone": "y"})
