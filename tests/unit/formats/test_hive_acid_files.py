"""Which files of a transactional table count, and which rows files of deletions take away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from harness.formats import hive_acid_files
from harness.model.file_facts import FileKind
from harness.runtime.metastore_objects import WriteIds

BUCKET = 536870912
PLACE = [("originalTransaction", pa.int64()), ("bucket", pa.int32()), ("rowId", pa.int64())]
ROW = pa.struct([("id", pa.string()), ("f", pa.string())])
SCHEMA = pa.schema([("operation", pa.int32()), *PLACE, ("row", ROW)])

Written = tuple[int, int, str | None]
"""The number of the write that made a row, its place there, and its key; None: a deletion."""


def write(folder: Path, rows: Sequence[Written]) -> None:
    folder.mkdir(parents=True)
    told = [
        {
            "operation": 2 if key is None else 0,
            "originalTransaction": number,
            "bucket": BUCKET,
            "rowId": place,
            "row": None if key is None else {"id": key, "f": f"f{key}"},
        }
        for number, place, key in rows
    ]
    orc.write_table(pa.Table.from_pylist(told, SCHEMA), folder / "bucket_00000")
    (folder / "_orc_acid_version").write_text("2")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two rows, one of which is replaced by the second write; a third write was aborted."""
    write(tmp_path / "delta_0000001_0000001_0000", [(1, 0, "a"), (1, 1, "b")])
    write(tmp_path / "delete_delta_0000002_0000002_0000", [(1, 1, None)])
    write(tmp_path / "delta_0000002_0000002_0000", [(2, 0, "b")])
    write(tmp_path / "delta_0000003_0000003_0000", [(3, 0, "c")])
    return tmp_path


IDS = WriteIds(3, aborted=(3,))
FIRST = "delta_0000001_0000001_0000/bucket_00000"


def test_a_deletion_is_of_the_file_that_holds_the_row(table: Path) -> None:
    facts = hive_acid_files.facts(table, "id", IDS)
    bases = {each.path: each.keys for each in facts if each.kind is FileKind.BASE}
    assert bases == {FIRST: ("a", "b"), "delta_0000002_0000002_0000/bucket_00000": ("b",)}
    (gone,) = [each for each in facts if each.kind is FileKind.LOG]
    assert (gone.file_group, gone.deleted, gone.instant) == (FIRST, ("b",), "2")


def test_what_an_aborted_transaction_wrote_counts_as_nothing(table: Path) -> None:
    assert hive_acid_files.instants(table, IDS) == ("1", "2")
    assert "c" in {
        key for each in hive_acid_files.facts(table, "id", WriteIds(3)) for key in each.keys
    }


def test_a_number_that_left_nothing_is_of_no_write(table: Path) -> None:
    assert hive_acid_files.instants(table, WriteIds(4, aborted=(3,))) == ("1", "2")


def test_a_compaction_takes_the_place_of_what_it_joined_and_has_a_name_of_its_own(
    table: Path,
) -> None:
    base = table / "base_0000002"
    write(base, [(1, 0, "a"), (2, 0, "b")])
    (base / "_metadata_acid").write_text('{"thisFileVersion":"0","dataFormat":"compacted"}')
    (fact,) = hive_acid_files.facts(table, "id", IDS)
    assert (fact.keys, fact.instant) == (("a", "b"), "base_0000002")
    assert hive_acid_files.instants(table, IDS) == ("1", "2", "base_0000002")


def test_a_minor_compaction_keeps_deletions_apart(table: Path) -> None:
    write(table / "delta_0000001_0000002", [(1, 0, "a"), (1, 1, "b"), (2, 0, "b")])
    write(table / "delete_delta_0000001_0000002", [(1, 1, None)])
    facts = hive_acid_files.facts(table, "id", IDS)
    assert [(each.kind, each.keys, each.deleted) for each in facts] == [
        (FileKind.BASE, ("a", "b", "b"), ()),
        (FileKind.LOG, (), ("b",)),
    ]


def test_rows_of_a_file_are_those_of_the_table(table: Path) -> None:
    names, rows = hive_acid_files.file_rows(table / FIRST)
    assert (names, rows) == (("id", "f"), (("a", "fa"), ("b", "fb")))


def test_a_compaction_of_each_partition_found_the_writes_up_to_its_own(tmp_path: Path) -> None:
    for part, last in (("p=a", 2), ("p=b", 3)):
        base = tmp_path / part / f"base_000000{last}"
        write(base, [(last, 0, part)])
        (base / "_metadata_acid").write_text("{}")
    assert hive_acid_files.joined(tmp_path, "base_0000002") == ("1", "2")
    assert hive_acid_files.joined(tmp_path, "base_0000003") == ("1", "2", "3")
    assert hive_acid_files.joined(tmp_path, "3") == ()


def test_a_row_has_its_place_in_its_own_partition_alone(tmp_path: Path) -> None:
    for part, key in (("p=a", "a"), ("p=b", "b")):
        write(tmp_path / part / "delta_0000001_0000001_0000", [(1, 0, key)])
    write(tmp_path / "p=a" / "delete_delta_0000002_0000002_0000", [(1, 0, None)])
    (gone,) = [e for e in hive_acid_files.facts(tmp_path, "id", WriteIds(2)) if e.deleted]
    assert (gone.file_group, gone.deleted) == (
        "p=a/delta_0000001_0000001_0000/bucket_00000",
        ("a",),
    )
