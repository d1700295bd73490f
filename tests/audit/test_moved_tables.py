"""Iceberg tables that were copied from where their metadata say that they are.

Spark wrote them: one has position deletes, the other a deletion vector (tests/unit/formats).
"""

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.audit import table_rows
from harness.audit.catalog_entry import catalog_entry
from harness.audit.tables import PinnedTable, for_readers, pinned
from harness.formats.files.locations import Locations
from harness.formats.iceberg import move
from harness.formats.iceberg.table import POINTER
from harness.model.canonical import Value
from harness.usage.usage_file import UsedTable
from tests.audit.small_iceberg_tables import Made
from tests.builders.iceberg_folder import Entry, IcebergFolder

MOVED = Path(__file__).parents[1] / "unit" / "formats" / "moved_tables"
OLD = b"/warehouse/"


@pytest.fixture(params=["pos", "dv"])
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "a folder of another length" / str(request.param)
    shutil.copytree(MOVED / request.param, folder)
    return folder


def pin(address: Path) -> PinnedTable:
    (table,) = pinned(str(address), ())
    assert isinstance(table, PinnedTable)
    return table


def given(table: PinnedTable, folder: Path) -> PinnedTable:
    made = for_readers(table, folder)
    assert isinstance(made, PinnedTable)
    return made


def rows(table: PinnedTable) -> list[tuple[Value, ...]]:
    return sorted(table_rows.read(table.plan()).rows, key=repr)


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_readers_get_a_copy_of_the_metadata_that_names_the_files_where_they_lie(
    copy: Path, tmp_path: Path
) -> None:
    table, before = pin(copy), digests(copy)
    made = given(table, tmp_path / "given")
    assert digests(copy) == before
    entry = catalog_entry(made, made.plan()).table["parameters"]
    assert entry[POINTER] == made.for_readers
    read = replace(table.table, metadata=made.for_readers)
    assert rows(PinnedTable(read)) == rows(table) != []
    files = (path for path in (tmp_path / "given").rglob("*") if path.is_file())
    assert not [path for path in files if OLD in path.read_bytes()]


def test_deletes_that_name_the_old_place_would_be_lost_without_the_copy(copy: Path) -> None:
    table = pin(copy)
    without = table.plan()
    every = replace(without, files=tuple(replace(f, deleted=()) for f in without.files))
    assert len(table_rows.read(every).rows) > len(rows(table))


def test_a_table_that_is_where_its_metadata_say_is_not_copied(copy: Path, tmp_path: Path) -> None:
    move.move(copy, str(copy))
    table = pin(copy)
    assert table.locations == Locations()
    assert for_readers(table, tmp_path / "given") is table
    assert not (tmp_path / "given").exists()
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(copy, elsewhere)  # what its metadata name is still there
    assert pin(elsewhere).locations == Locations()


def test_the_address_may_be_that_of_a_metadata_file(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path / "t"))
    for number in (1, 2):
        path = made.data(f"{number}.parquet", id=[number], a=[0], b=[0])
        made.files.commit(number, Entry(path))
        made.files.metadata(number)
    old, new = sorted((tmp_path / "t" / "metadata").glob("*.metadata.json"))
    assert rows(pin(old)) == [(1, 0, 0)]
    assert rows(pin(new)) == rows(pin(tmp_path / "t")) == [(1, 0, 0), (2, 0, 0)]


def test_metadata_of_any_name_are_those_of_a_table(copy: Path) -> None:
    newest = Path(pin(copy).table.metadata)
    content = newest.read_bytes()
    for path in (copy / "metadata").glob("*.metadata.json"):
        path.unlink()
    (copy / "metadata" / "final.metadata.json").write_bytes(content)
    (copy / "metadata" / ".final.metadata.json.crc").write_bytes(b"")
    assert pin(copy).table.metadata.endswith("final.metadata.json")


def test_deletes_may_name_the_store_that_metadata_leave_out(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path / "t"))
    path = made.data("1.parquet", id=[1, 2, 3], a=[1, 1, 1], b=[1, 1, 1])
    deletes = tmp_path / "t" / made.files.deletes("d.parquet", (path, 0))
    stored = pq.read_table(deletes)
    names = [name.removeprefix("file:") for name in stored["file_path"].to_pylist()]
    named = [f"hdfs://host:1{name}" for name in names]
    columns = {"file_path": [*named, None], "pos": [*stored["pos"].to_pylist(), 1]}
    pq.write_table(pa.table(columns), deletes)
    made.files.commit(1, Entry(path), Entry("data/d.parquet", content=1))
    made.files.metadata(1)
    table = pin(tmp_path / "t")
    assert [row[0] for row in rows(table)] == [2, 3]
    (sentence,) = table.plan().undecided
    assert "rows that name no file" in sentence


def test_a_whole_warehouse_may_have_been_copied() -> None:
    of = move._warehouse("s3://old/wh/db/t", "/new/wh/db/t")
    assert Locations(of).of("s3://old/wh/db/other/f") == "/new/wh/db/other/f"
    assert move._warehouse("s3://old/wh/t", "/new/u/t") == {}


def test_deletes_that_cannot_be_changed_are_told(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path / "t"))
    path = made.data("1.parquet", id=[1, 2], a=[1, 1], b=[1, 1])
    orc = made.files.orc("d.orc", file_path=[path], pos=[0])
    made.files.commit(1, Entry(path), Entry(orc, content=1))
    made.files.metadata(1)
    (table,) = pinned(str(tmp_path / "t"), ())
    made_copy = for_readers(table, tmp_path / "given")
    assert isinstance(made_copy, UsedTable)
    assert "d.orc: the paths in it cannot be changed" in made_copy.unread
