"""What the files of an Iceberg table say."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats import iceberg_files
from harness.formats.api import FileFactError
from harness.formats.iceberg import FORMAT
from harness.model.file_facts import FileFact, FileKind
from tests.unit.formats.iceberg_table import GONE, Entry, Folder

COLUMNS = (("id", "string"), ("a", "int64"))
DELETES, BY_VALUE = 1, 2
"""Contents of files."""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "t")


def facts(folder: Folder) -> tuple[FileFact, ...]:
    folder.metadata(len(folder.snapshots))
    return iceberg_files.facts(folder.path, "id")


def base(path: str, snapshot: int, *keys: str) -> FileFact:
    return FileFact(path, FileKind.BASE, path, str(snapshot), COLUMNS, keys)


def deleted(path: str, of: str, snapshot: int, *keys: str) -> FileFact:
    return FileFact(path, FileKind.LOG, of, str(snapshot), (), (), keys)


def test_a_folder_without_metadata_holds_no_table(tmp_path: Path) -> None:
    assert iceberg_files.table(tmp_path) is None
    assert iceberg_files.facts(tmp_path, "id") == ()


def test_a_table_that_nothing_was_written_to_has_no_files(folder: Folder) -> None:
    assert facts(folder) == ()


def test_a_copy_of_the_folder_tells_the_same_as_the_original(folder: Folder) -> None:
    path = folder.data("one.parquet", id=["1", "2"], a=[1, 2])
    folder.commit(70, Entry(path))
    assert facts(folder) == (base(path, 70, "1", "2"),)


def test_a_file_says_who_added_it_or_its_manifest_does(folder: Folder) -> None:
    one = folder.data("one.parquet", id=["1"], a=[1])
    two = folder.data("two.parquet", id=["2"], a=[2])
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(two), Entry(one, snapshot=70, sequence=1), forget=True)
    assert facts(folder) == (base(one, 70, "1"), base(two, 80, "2"))


def test_a_file_that_is_no_longer_part_of_the_table_is_left_out(folder: Folder) -> None:
    one = folder.data("one.parquet", id=["1"], a=[1])
    two = folder.data("two.parquet", id=["1"], a=[2])
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(two), Entry(one, status=GONE, snapshot=80, sequence=1), forget=True)
    assert facts(folder) == (base(two, 80, "1"),)


def test_older_rows_come_first_whatever_the_files_are_called(folder: Folder) -> None:
    z = folder.data("z.parquet", id=["1"], a=[1])
    b = folder.data("b.parquet", id=["2"], a=[2])
    rewritten = folder.data("c.parquet", id=["1"], a=[1])
    folder.commit(70, Entry(z))
    folder.commit(80, Entry(b))
    assert [fact.path for fact in facts(folder)] == [z, b]
    folder.commit(90, Entry(rewritten, sequence=1), Entry(b, 0, 0, 80, 2), forget=True)
    assert [fact.path for fact in facts(folder)] == [rewritten, b]


@pytest.mark.parametrize("value", [7, None])
def test_a_partition_value_is_the_one_in_the_manifest_whatever_the_file_holds(
    folder: Folder, value: int | None
) -> None:
    one = folder.data("a=1/one.parquet", id=["1", "2"], a=[1, 1])
    folder.commit(70, Entry(one, partition=value))
    spec = {"source-id": 2, "field-id": 1000, "name": "a", "transform": "identity"}
    fields = [{"id": 1, "name": "id"}, {"id": 2, "name": "a"}]
    folder.metadata(
        1,
        **{
            "partition-specs": [{"spec-id": 0, "fields": [spec]}],
            "schemas": [{"schema-id": 0, "fields": fields}],
        },
    )
    (fact,) = iceberg_files.facts(folder.path, "id")
    read = FORMAT.file_rows(folder.path / fact.path, fact)
    assert read == (("id", "a"), (("1", value), ("2", value)))


def test_deleted_positions_become_keys_of_the_files_they_stand_in(folder: Folder) -> None:
    one = folder.data("one.parquet", id=["1", "2", "3"], a=[1, 2, 3])
    two = folder.data("two.parquet", id=["4"], a=[4])
    gone = folder.deletes("gone.parquet", (two, 0), (one, 2), (one, 0), ("data/old.parquet", 7))
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(two))
    folder.commit(90, Entry(gone, DELETES))
    assert facts(folder)[2:] == (
        deleted(gone, one, 90, "1", "3"),
        deleted(gone, two, 90, "4"),
    )


def test_rows_deleted_by_their_values_are_not_understood(folder: Folder) -> None:
    folder.commit(70, Entry(folder.data("one.parquet", id=["1"], a=[1])))
    folder.commit(80, Entry(folder.data("eq.parquet", id=["1"]), BY_VALUE))
    with pytest.raises(FileFactError, match=r"data/eq.parquet: rows are deleted by their values"):
        facts(folder)


def test_partition_columns_are_left_out_as_other_formats_do(folder: Folder) -> None:
    folder.commit(70, Entry(folder.data("one.parquet", id=["1"], p=["x"], a=[1])))
    spec = {"fields": [{"transform": "identity", "source-id": 3}], "spec-id": 4}
    folder.metadata(
        1,
        **{
            "default-spec-id": 4,
            "partition-specs": [spec],
            "schemas": [{"schema-id": 0, "fields": [{"id": 3, "name": "p"}]}],
        },
    )
    (fact,) = iceberg_files.facts(folder.path, "id")
    assert fact.columns == COLUMNS


def test_the_newest_metadata_counts_also_after_ten(folder: Folder) -> None:
    for number in (9, 10, 11):
        folder.metadata(number, properties={"number": str(number)})
    found = iceberg_files.table(folder.path)
    assert found is not None
    assert found.properties == {"number": "11"}


def test_snapshots_are_told_in_the_order_of_their_making(folder: Folder) -> None:
    for snapshot in (9000, 20, 300):
        folder.commit(snapshot)
    folder.snapshots.reverse()
    folder.metadata(1)
    found = iceberg_files.table(folder.path)
    assert found is not None
    assert found.snapshots == ("9000", "20", "300")


def test_broken_files_are_named(folder: Folder) -> None:
    one = folder.data("one.parquet", id=["1"], a=[1])
    folder.commit(70, Entry(one))
    (folder.path / one).write_bytes(b"PAR1")
    with pytest.raises(FileFactError, match=r"one\.parquet"):
        facts(folder)
    (folder.path / "metadata" / "m1.avro").write_bytes(b"Obj")
    with pytest.raises(FileFactError, match=r"metadata/m1\.avro"):
        facts(folder)
    folder.metadata(2).write_text("{")
    with pytest.raises(FileFactError, match=r"00002-.*\.metadata\.json"):
        iceberg_files.table(folder.path)


def test_a_file_of_another_table_is_not_looked_up(folder: Folder) -> None:
    folder.commit(70)
    folder.metadata(1, location="file:/where/it")
    found = iceberg_files.table(folder.path)
    assert found is not None
    with pytest.raises(FileFactError, match="does not lie below the table's location"):
        found.relative("file:/where/it-was-not/x.parquet")
