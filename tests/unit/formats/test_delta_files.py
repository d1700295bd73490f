from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from harness import formats
from harness.formats.api import FileFactError
from harness.formats.delta import files as delta_files
from harness.formats.delta import log as delta_log
from harness.model.file_facts import FileFact, FileKind

FORMAT = formats.load("delta")
TABLES = Path(__file__).parent / "delta_tables"
MARKED, LATER = TABLES / "marked", TABLES / "mapped_later"
THEN, NOW = ("id", "ts", "f1", "f2", "f3"), ("id", "f2", "ts", "g", "f3")


def bases(folder: Path) -> list[FileFact]:
    return [fact for fact in delta_files.facts(folder, "id") if fact.kind is FileKind.BASE]


def names(fact: FileFact) -> tuple[str, ...]:
    return tuple(name for name, _ in fact.columns)


def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "t"))


def test_a_folder_without_a_log_holds_no_table(tmp_path: Path) -> None:
    assert delta_log.read(tmp_path) is None
    assert delta_files.facts(tmp_path, "id") == ()
    assert FORMAT.instants(tmp_path) == FORMAT.timeline(tmp_path) == ()


@pytest.mark.parametrize("folder", [MARKED, LATER])
@pytest.mark.parametrize("name", ["left.parquet", "20261127_150336_00441_e88q3_left"])
def test_data_files_that_no_version_names_are_of_a_write_that_was_begun(
    folder: Path, name: str, tmp_path: Path
) -> None:
    table, (one, *_) = copy(folder, tmp_path), bases(folder)
    assert FORMAT.committed(table, ()).begun == ()
    for place in ("p=a%20b", "_change_data"):  # the second has no data files
        (table / place).mkdir()
        for file in (name, f".{name}.crc", "deletion_vector_left.bin"):
            shutil.copy(table / one.path, table / place / file)
    after = FORMAT.committed(table, ())
    assert after.begun == (f"p=a%20b/{name}",)
    assert after == FORMAT.committed(folder, ())  # nothing was committed
    assert bases(table) == bases(folder)


def test_a_file_has_the_names_of_its_own_version_and_its_stored_ones_beside() -> None:
    actual = {base.instant: base for base in bases(MARKED)}
    assert {at: (names(fact), fact.keys) for at, fact in actual.items()} == {
        "2": (THEN, ("3",)),
        "7": (NOW, ("1", "4", "5")),
        "8": (NOW, ("1",)),
    }
    old, new = (dict(zip(names(f), f.stored_names, strict=True)) for f in bases(MARKED)[:2])
    assert all(text.startswith("col-") for text in (*old.values(), *new.values()))
    assert old["f1"] == new["g"]  # the same column, for life
    assert old["f2"] != new["f2"]  # another one of the same name


def test_mapping_that_came_later_keeps_the_names_of_then_in_files() -> None:
    old, new = bases(LATER)
    assert (names(old), old.stored_names) == (THEN, ())
    assert names(new) == NOW
    id_, f2, *others = new.stored_names
    assert (id_, others) == ("id", ["ts", "f1", "f3"])
    assert f2.startswith("col-")


def test_a_deletion_vector_becomes_a_log_with_the_keys_of_the_rows_that_are_gone() -> None:
    (log,) = [fact for fact in delta_files.facts(MARKED, "id") if fact.kind is FileKind.LOG]
    assert (log.instant, log.deleted, log.keys) == ("8", ("1",), ())
    assert log.file_group in {base.path for base in bases(MARKED) if base.instant == "7"}


def test_the_rows_of_a_file_come_under_the_names_of_its_version() -> None:
    fact = next(base for base in bases(MARKED) if base.instant == "8")
    columns, rows = delta_files.file_rows(MARKED / fact.path, fact)
    assert columns == NOW
    assert dict(zip(columns, rows[0], strict=True))["g"] == "f3s8r1"


def test_a_version_that_sets_properties_alone_is_no_write() -> None:
    assert FORMAT.timeline(LATER)[2] == "version 2: SET TBLPROPERTIES"
    assert "2" not in FORMAT.instants(LATER)
    assert FORMAT.committed(LATER, ()).writes == FORMAT.instants(LATER)
    assert FORMAT.instants_before(LATER, "3") == ("0", "1")
    assert [FORMAT.table_version(path) for path in (MARKED, LATER)] == ["3", "2"]


def test_a_log_without_its_first_commits_is_not_understood(tmp_path: Path) -> None:
    folder = copy(LATER, tmp_path)
    (folder / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(FileFactError, match="all commits from version 0 on"):
        FORMAT.facts(folder, "id")


def test_a_commit_that_is_not_json_is_named(tmp_path: Path) -> None:
    folder = copy(LATER, tmp_path)
    (folder / "_delta_log" / f"{3:020}.json").write_text("{")
    with pytest.raises(FileFactError, match=r"0003\.json"):
        FORMAT.facts(folder, "id")


def test_a_vector_with_other_rows_than_it_says_is_not_believed(tmp_path: Path) -> None:
    folder = copy(MARKED, tmp_path)
    (live,) = [file for file in delta_log.read(folder).live() if file.vector]  # type: ignore[union-attr]
    assert delta_files.deleted(folder, live.vector or {}) == {0}
    with pytest.raises(FileFactError, match="it has 1 rows, and says 2"):
        delta_files.deleted(folder, {**(live.vector or {}), "cardinality": 2})


ARRAY = struct.pack("<IIHHI2H", 12346, 1, 0, 1, 16, 3, 70)
RUN = struct.pack("<I1BHHHHH", 12347, 1, 1, 4, 1, 10, 4)
BITS = struct.pack("<IIHHI", 12346, 1, 0, 4999, 16) + b"\xff" * 625 + b"\0" * (8192 - 625)


@pytest.mark.parametrize(
    ("bitmap", "expected"),
    [(ARRAY, {3, 70}), (RUN, {65536 + at for at in range(10, 15)}), (BITS, set(range(5000)))],
    ids=["array", "run", "bits"],
)
def test_every_kind_of_container_is_read(bitmap: bytes, expected: set[int], tmp_path: Path) -> None:
    content = struct.pack("<iqI", 1681511377, 1, 0) + bitmap
    (tmp_path / "deletion_vector_00000000-0000-0000-0000-000000000000.bin").write_bytes(
        b"\x01" + struct.pack(">i", len(content)) + content
    )
    told = {"storageType": "u", "pathOrInlineDv": "0" * 20, "offset": 1}
    size = {"sizeInBytes": len(content), "cardinality": len(expected)}
    assert delta_files.deleted(tmp_path, {**told, **size}) == expected
