import datetime
import json
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import formats
from harness.formats.api import NO_CATALOG, FileFactError
from harness.formats.iceberg import files, puffin
from harness.formats.iceberg import move as iceberg_move
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.manifests import FileContent, Live, applies, avro_records
from harness.formats.iceberg.table import table
from harness.model.file_facts import FileFact, FileKind, Lineage
from tests.builders.iceberg_folder import GONE, Entry, IcebergFolder

FORMAT = formats.load("iceberg")
COLUMNS = (("id", "string"), ("a", "int64"))
DELETES, BY_VALUE = 1, 2


@pytest.fixture
def folder(tmp_path: Path) -> IcebergFolder:
    return IcebergFolder(tmp_path / "t")


def facts(folder: IcebergFolder) -> tuple[FileFact, ...]:
    folder.metadata(len(folder.snapshots))
    return files.facts(folder.path, "id")


def base(path: str, snapshot: int, *keys: str) -> FileFact:
    return FileFact(path, FileKind.BASE, path, str(snapshot), COLUMNS, keys)


def deleted(path: str, group: str, snapshot: int, *keys: str) -> FileFact:
    return FileFact(path, FileKind.LOG, group, str(snapshot), (), (), keys)


def test_a_folder_without_metadata_holds_no_table(folder: IcebergFolder) -> None:
    folder.path.mkdir(exist_ok=True)
    assert iceberg_table.table(folder.path).metadata == {}
    assert files.facts(folder.path, "id") == ()
    assert facts(folder) == (), "nor has a table files that nothing was written to"


def test_a_file_says_who_added_it_or_its_manifest_does(folder: IcebergFolder) -> None:
    one = folder.data("one.parquet", id=["1"], a=[1])
    two = folder.data("two.parquet", id=["2"], a=[2])
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(two), Entry(one, snapshot=70, sequence=1), forget=True)
    assert facts(folder) == (base(one, 70, "1"), base(two, 80, "2"))


def test_a_file_that_is_no_longer_part_of_the_table_is_left_out(folder: IcebergFolder) -> None:
    one = folder.data("one.parquet", id=["1"], a=[1])
    two = folder.data("two.parquet", id=["1"], a=[2])
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(two), Entry(one, status=GONE, snapshot=80, sequence=1), forget=True)
    assert facts(folder) == (base(two, 80, "1"),)


def test_older_rows_come_first_whatever_the_files_are_called(folder: IcebergFolder) -> None:
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
    folder: IcebergFolder, value: int | None
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
    (fact,) = files.facts(folder.path, "id")
    read = FORMAT.file_rows(folder.path / fact.path, fact)
    assert read == (("id", "a"), (("1", value), ("2", value)))


def test_deleted_positions_become_keys_of_the_files_they_stand_in(folder: IcebergFolder) -> None:
    one = folder.data("one.parquet", id=["1", "2", "3"], a=[1, 2, 3])
    two = folder.data("two.parquet", id=["4"], a=[4])
    gone = folder.deletes("gone.parquet", (two, 0), (one, 2), (one, 0), ("data/old.parquet", 7))
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(two))
    folder.commit(90, Entry(gone, DELETES))
    assert facts(folder)[2:] == (deleted(gone, one, 90, "1", "3"), deleted(gone, two, 90, "4"))


def test_keys_that_are_deleted_by_their_values_are_gone_from_older_files_alone(
    folder: IcebergFolder,
) -> None:
    one = folder.data("one.parquet", id=["1", "2"], a=[1, 2])
    again = folder.data("again.parquet", id=["1"], a=[3])
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(folder.data("eq.parquet", id=["1", "7"]), BY_VALUE))
    folder.commit(90, Entry(again))
    assert facts(folder)[2:] == (deleted("data/eq.parquet", one, 80, "1"),)


@pytest.mark.parametrize(
    ("spec", "partition", "from_one"), [(0, 1, True), (0, 2, False), (1, 1, False)]
)
@pytest.mark.parametrize("content", [DELETES, BY_VALUE])
def test_deletes_apply_to_files_of_their_own_spec_and_partition(
    folder: IcebergFolder, content: int, spec: int, partition: int, *, from_one: bool
) -> None:
    one = folder.data("one.parquet", id=["1", "2"], a=[1, 2])
    folder.commit(70, Entry(one, partition=1))
    name = "gone.parquet"
    gone = folder.data(name, id=["1"]) if content == BY_VALUE else folder.deletes(name, (one, 0))
    folder.commit(80, Entry(gone, content, partition=partition), spec=spec)
    folder.metadata(2, **{"partition-specs": [identity(0, 1), identity(1, 2)]})
    expected = (deleted(gone, one, 80, "1"),) if from_one else ()
    assert files.facts(folder.path, "id")[1:] == expected


@pytest.mark.parametrize(("day", "there"), [(19731, True), (19732, False), (None, False)])
def test_a_day_is_the_same_partition_where_a_manifest_says_but_its_number(
    day: int | None, *, there: bool
) -> None:
    file = Live(FileContent.DATA, "a.parquet", "1", 1, partition=(day,))
    day_of_spark = datetime.date(2024, 1, 9)
    deletes = Live(FileContent.POSITION_DELETES, "d", "2", 2, partition=(day_of_spark,))
    assert applies(deletes, file, {0: []}) is there


@pytest.mark.parametrize("transform", [None, "void"])
def test_deletes_by_value_of_a_spec_without_partitions_apply_to_all_older_files(
    folder: IcebergFolder, transform: str | None
) -> None:
    one = folder.data("one.parquet", id=["1", "2"], a=[1, 2])
    folder.commit(70, Entry(one, partition=1))
    gone = folder.data("gone.parquet", id=["1"])
    folder.commit(80, Entry(gone, BY_VALUE), spec=1)
    fields = [{"transform": transform, "source-id": 1}] if transform else []
    specs = [identity(0, 1), {"spec-id": 1, "fields": fields}]
    folder.metadata(2, **{"partition-specs": specs})
    assert files.facts(folder.path, "id")[1:] == (deleted(gone, one, 80, "1"),)


@pytest.mark.parametrize(
    ("values", "ids", "keys"),
    [
        ({"a": [10]}, (2,), ("1",)),  # and not the row whose a is NULL
        ({"a": pa.array([None], pa.int64())}, (2,), ("3",)),
        ({"a": [10, 20], "id": ["1", "1"]}, (2, 1), ("1",)),
        ({"b": pa.array([None], pa.int64())}, (3,), ("1", "2", "3")),  # the file lacks it
        ({"b": [7]}, (3,), ()),
    ],
)
def test_rows_are_deleted_by_the_values_of_any_columns(
    folder: IcebergFolder, values: dict[str, Any], ids: tuple[int, ...], keys: tuple[str, ...]
) -> None:
    one = folder.data("one.parquet", id=["1", "2", "3"], a=[10, 20, None])
    folder.commit(70, Entry(one))
    gone = folder.data("eq.parquet", **values)
    folder.commit(80, Entry(gone, BY_VALUE, by=ids))
    assert facts(folder)[1:] == ((deleted(gone, one, 80, *keys),) if keys else ())


def test_a_delete_file_without_the_column_by_which_it_deletes_is_not_understood(
    folder: IcebergFolder,
) -> None:
    folder.commit(70, Entry(folder.data("one.parquet", id=["1"], a=[1])))
    folder.commit(80, Entry(folder.data("eq.parquet", a=[1]), BY_VALUE, by=(1,)))
    with pytest.raises(FileFactError, match=r"data/eq.parquet: it lacks a column by which"):
        facts(folder)


def test_a_deletion_vector_names_positions_of_one_file(folder: IcebergFolder) -> None:
    one = folder.data("one.parquet", id=["1", "2", "3"], a=[1, 2, 3])
    gone = folder.vector("gone.puffin", 0, 2)
    folder.commit(70, Entry(one))
    folder.commit(80, Entry(gone, DELETES, vector_of=one))
    assert facts(folder)[1:] == (deleted(gone, one, 80, "1", "3"),)
    (folder.path / gone).write_bytes(bytes(40))
    with pytest.raises(FileFactError, match=r"gone\.puffin: it is no Puffin file"):
        facts(folder)


def test_columns_that_the_table_was_parted_by_at_first_are_left_out_as_other_formats_do(
    folder: IcebergFolder,
) -> None:
    for number, spec in enumerate((0, 1, 2)):
        path = folder.data(f"{number}.parquet", id=["1"], p=["x"], q=["y"], a=[1])
        folder.commit(70 + number, Entry(path), spec=spec)
    names = [{"id": 3, "name": "p"}, {"id": 4, "name": "q"}]
    folder.metadata(
        1,
        **{
            "default-spec-id": 2,
            "partition-specs": [identity(0, 3), identity(1), identity(2, 3, 4)],
            "schemas": [{"schema-id": 0, "fields": names}],
        },
    )
    actual = files.facts(folder.path, "id")
    shown = [[name for name, _ in fact.columns] for fact in actual]
    assert shown == [["id", "q", "a"], ["id", "p", "q", "a"], ["id", "q", "a"]]


def identity(spec: int, *sources: int) -> dict[str, object]:
    fields = [{"transform": "identity", "source-id": source} for source in sources]
    return {"spec-id": spec, "fields": fields}


def test_the_newest_metadata_counts_also_after_ten(folder: IcebergFolder) -> None:
    for number in (9, 10, 11):
        folder.metadata(number, properties={"number": str(number)})
    actual = iceberg_table.table(folder.path)
    assert actual.properties == {"number": "11"}


def test_a_snapshot_that_was_never_the_current_one_is_staged(folder: IcebergFolder) -> None:
    folder.commit(9000)
    folder.commit(20, staged=True)
    folder.metadata(1)
    committed = FORMAT.committed(folder.path, ())
    assert (committed.writes, committed.begun) == (("9000",), ("20",))


def test_broken_files_are_named(folder: IcebergFolder) -> None:
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
        iceberg_table.table(folder.path)


def test_a_file_of_another_table_is_not_looked_up(folder: IcebergFolder) -> None:
    folder.commit(70)
    folder.metadata(1, location="file:/where/it")
    actual = iceberg_table.table(folder.path)
    with pytest.raises(FileFactError, match="does not lie below the table's location"):
        actual.relative("file:/where/it-was-not/x.parquet")


@pytest.mark.parametrize("kind", ["PARQUET", "ORC", "AVRO"])
@pytest.mark.parametrize(
    ("names", "lost"),
    [
        ({1: ["id"], 2: ["a"]}, ()),
        ({1: ["id"], 2: ["b", "a"]}, ()),
        ({1: ["id"], 2: ["b"]}, ("a",)),
        ({1: ["id"], 2: ["b"], 3: ["a"]}, ("a",)),
    ],
    ids=["as it was", "renamed", "a lost name", "a name that another column has"],
)
def test_a_column_is_lost_where_the_name_mapping_leads_to_it_no_longer(
    folder: IcebergFolder, names: dict[int, list[str]], lost: tuple[str, ...], kind: str
) -> None:
    name = f"one.{kind.lower()}"
    columns: dict[str, list[object]] = {"id": ["1"], "a": [1]}
    if kind == "AVRO":
        made = folder.avro(name, (), **columns)
    else:
        made = (folder.orc if kind == "ORC" else folder.data)(name, **columns)
    folder.commit(70, Entry(made, kind=kind))
    mapping = json.dumps([{"field-id": id_, "names": name} for id_, name in names.items()])
    then = [{"id": 1, "name": "id", "type": "string"}, {"id": 2, "name": "a", "type": "long"}]
    folder.metadata(
        1,
        schemas=[{"schema-id": 0, "fields": then}],
        properties={"schema.name-mapping.default": mapping},
    )
    (fact,) = files.facts(folder.path, "id")
    assert fact.lost_names == lost
    assert fact.misled_names == tuple(text for text in lost if [text] in names.values())


def test_an_avro_file_with_ids_loses_no_column(folder: IcebergFolder) -> None:
    folder.commit(70, Entry(folder.avro("one.avro", ids=(1, 2), id=["1"], a=[1]), kind="AVRO"))
    mapping = json.dumps([{"field-id": 1, "names": ["id"]}, {"field-id": 3, "names": ["a"]}])
    then = [{"id": 1, "name": "id", "type": "string"}, {"id": 2, "name": "a", "type": "long"}]
    schemas, shown = [{"schema-id": 0, "fields": then}], {"schema.name-mapping.default": mapping}
    folder.metadata(1, schemas=schemas, properties=shown)
    (fact,) = files.facts(folder.path, "id")
    assert (fact.lost_names, fact.misled_names) == ((), ())


MOVED = Path(__file__).with_name("moved_tables")
OLD = b"/warehouse/"


@pytest.fixture(params=["pos", "dv"])
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "a folder of another length" / str(request.param)
    shutil.copytree(MOVED / request.param, folder)
    checksum = b"crc\x00\xb3"  # as Hadoop writes it
    (folder / "metadata" / ".v1.metadata.json.crc").write_bytes(checksum)
    iceberg_move.move(folder, str(folder))
    return folder


def entries(folder: Path) -> list[Mapping[str, Any]]:
    lists = (folder / "metadata").glob("snap-*.avro")
    manifests = [entry for path in lists for entry in avro_records(path.read_bytes()).records]
    for manifest in manifests:
        path = Path(manifest["manifest_path"].removeprefix("file:"))
        assert path.stat().st_size == manifest["manifest_length"]
    paths = {manifest["manifest_path"].removeprefix("file:") for manifest in manifests}
    return [e["data_file"] for path in paths for e in avro_records(Path(path).read_bytes()).records]


def test_no_file_names_the_old_place(copy: Path) -> None:
    assert any(OLD in path.read_bytes() for path in MOVED.rglob("*") if path.is_file())
    assert not [path for path in copy.rglob("*") if path.is_file() and OLD in path.read_bytes()]


def test_every_file_of_the_table_is_where_its_metadata_say_and_as_long(copy: Path) -> None:
    files = entries(copy)
    assert {file["content"] for file in files} == {0, 1}
    for file in files:
        path = Path(file["file_path"].removeprefix("file:"))
        assert path.stat().st_size == file["file_size_in_bytes"]
    assert len(list(table(copy).live())) >= 2


def test_deletes_are_of_the_copied_files(copy: Path) -> None:
    data = {file["file_path"] for file in entries(copy) if file["content"] == 0}
    for file in (file for file in entries(copy) if file["content"] == 1):
        path = Path(file["file_path"].removeprefix("file:"))
        if path.suffix == ".puffin":
            content = path.read_bytes()
            (size,) = struct.unpack("<i", content[-12:-8])
            footer = json.loads(content[-12 - size : -12])
            named = {blob["properties"]["referenced-data-file"] for blob in footer["blobs"]}
            assert content[-12 - size - 4 : -12 - size] == puffin.MAGIC
        else:
            written = pq.read_table(path)
            named = set(written.column("file_path").to_pylist())
            ids = [
                written.schema.field(name).metadata[b"PARQUET:field_id"]
                for name in ("file_path", "pos")
            ]
            assert ids == [b"2147483546", b"2147483545"]
        assert named <= data
        for bounds in (file["lower_bounds"], file["upper_bounds"]):
            paths = [e["value"] for e in bounds or () if e["key"] == 2147483546]
            assert {path.decode() for path in paths} <= data


def rows_of(count: int, **more: int) -> Mapping[str, Any]:
    return {"record_count": count, **more}


def lineage(folder: IcebergFolder, version: int = 3) -> Lineage | None:
    folder.metadata(len(folder.snapshots), **{"format-version": version})
    return FORMAT.lineage(folder.path, "id", NO_CATALOG)


def test_rows_have_the_ids_that_follow_from_the_first_one_of_their_manifest(
    folder: IcebergFolder,
) -> None:
    one, two, three = (folder.data(f"{n}.parquet", id=[f"{n}1", f"{n}2"], a=[1, 2]) for n in "123")
    entries = (
        Entry(one, 0, 0, 70, 4, metrics=rows_of(2, first_row_id=7)),
        Entry("data/gone.parquet", status=GONE, metrics=rows_of(5)),
        Entry(two, metrics=rows_of(2)),
        Entry(three, metrics=rows_of(2)),
    )
    folder.commit(70, *entries, first_row=100)
    rows = (
        ("11", 7, 4),
        ("12", 8, 4),
        ("21", 100, 1),
        ("22", 101, 1),
        ("31", 102, 1),
        ("32", 103, 1),
    )
    assert lineage(folder) == Lineage(1, rows)
    assert lineage(folder, 2) is None, "older tables do not say it"


def test_rows_of_before_an_upgrade_have_no_numbers(folder: IcebergFolder) -> None:
    folder.commit(70, Entry(folder.data("1.parquet", id=["1"], a=[1])))
    assert lineage(folder) == Lineage(1, (("1", None, None),))


def test_numbers_in_a_file_count_by_their_field_ids_and_deleted_rows_have_none(
    folder: IcebergFolder,
) -> None:
    plain = folder.data("p.parquet", id=["1"], a=[1], _row_id=[55])
    ids = {"_row_id": 2147483540, "_last_updated_sequence_number": 2147483539}
    fields = [
        pa.field(n, pa.int64(), metadata={"PARQUET:field_id": str(at)}) for n, at in ids.items()
    ]
    stored = {
        "id": ["2", "3", "4"],
        "_row_id": [20, None, 22],
        "_last_updated_sequence_number": [1, 2, None],
    }
    moved = "data/moved.parquet"
    schema = pa.schema([pa.field("id", pa.string()), *fields])
    pq.write_table(pa.table(stored, schema=schema), folder.path / moved)
    gone = folder.vector("gone.puffin", 0)
    folder.commit(70, Entry(plain), Entry(moved, metrics=rows_of(3)), first_row=100)
    folder.commit(80, Entry(gone, DELETES, vector_of=moved))
    assert lineage(folder) == Lineage(2, (("1", 100, 1), ("3", 102, 2), ("4", 22, 1)))
