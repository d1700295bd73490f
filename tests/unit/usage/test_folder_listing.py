"""Tables are found below a folder by what lies in it.

`warehouse/` was written by PyIceberg 0.12.0 and delta-rs 1.6.6 at another place.
"""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs
from pymetastore.hive_metastore import ttypes

from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.formats.files import table_folder
from harness.formats.files.table_folder import TableFolder, UnreadableError, at, holding
from harness.usage import folder_listing, scan
from harness.usage.catalog_table import catalog_table
from harness.usage.usage_file import Fact, Usage, UsedFormat, UsedTable
from tests.builders.metastore_tables import (
    AVRO,
    DELIMITED,
    HUDI,
    ORC,
    PARQUET,
    REALTIME,
    RO,
    TEXT,
    metastore_table,
)
from tests.builders.table_folders import FIRST, HUDI_6, base, hudi, parquet, short

WAREHOUSE = Path(__file__).with_name("warehouse")


def scanned(folder: Path, *patterns: str) -> Usage:
    return scan.scan(str(folder), patterns, Progress())


def by_name(folder: Path, *patterns: str) -> dict[str, UsedTable]:
    return {table.name: table for table in scanned(folder, *patterns).tables}


def test_tables_that_libraries_wrote_are_found_with_what_was_done_to_them() -> None:
    usage = scanned(WAREHOUSE)
    assert usage.metastore == str(WAREHOUSE)
    assert usage.unlisted == {}
    tables = {table.name: table for table in usage.tables}
    assert {name: table.format for name, table in tables.items()} == {
        "lake.delta_t": "delta",
        "lake.plain": "hive-parquet",
        "sales.orders": "iceberg",
        "sales.parts": "iceberg",
    }
    assert {table.unread for table in tables.values()} == {""}
    assert short(tables["sales.orders"].schema_changes) == [
        "add f2 end yes",
        "rename f1 f1_new yes",
    ]
    assert short(tables["lake.delta_t"].schema_changes) == ["add f3 end yes"]
    assert tables["lake.plain"].partitioned


def test_the_same_tables_are_found_in_an_object_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(WAREHOUSE, tmp_path / "bucket" / "warehouse")
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    on_the_disk = scanned(WAREHOUSE).tables
    monkeypatch.setattr(table_folder, "_files", lambda *_: store)
    usage = scan.scan("s3://bucket/warehouse", (), Progress())
    assert usage.metastore == "s3://bucket/warehouse"
    assert usage.tables == on_the_disk


def test_of_a_plain_table_without_a_catalog_changes_of_columns_are_unknown() -> None:
    plain = by_name(WAREHOUSE)["lake.plain"]
    assert plain.unknown == (Fact.SCHEMA_CHANGES,)
    assert plain.why == "no catalog says which columns it has today"
    assert plain.schema_changes == ()


def test_a_table_itself_is_scanned_by_its_folder() -> None:
    assert list(by_name(WAREHOUSE / "sales" / "orders")) == ["orders"]


def test_only_folders_that_fit_a_pattern_are_scanned() -> None:
    assert list(by_name(WAREHOUSE, "Sal*")) == ["sales.orders", "sales.parts"]


def test_the_newest_metadata_of_an_iceberg_table_count(tmp_path: Path) -> None:
    copy = tmp_path / "orders"
    shutil.copytree(WAREHOUSE / "sales" / "orders", copy)
    newest = max((copy / "metadata").glob("*.json"))
    newest.rename(newest.with_name("v12.metadata.json"))
    assert len(by_name(copy)["orders"].schema_changes) == 2
    (copy / "metadata" / "v12.metadata.json").unlink()
    first = min((copy / "metadata").glob("*.json"))
    first.rename(first.with_name("00013-1.metadata.json"))
    assert by_name(copy)["orders"].schema_changes == ()


def test_a_folder_of_hive_has_its_databases_and_a_hudi_table_its_type(tmp_path: Path) -> None:
    hudi(tmp_path / "sales.db" / "trips", HUDI_6, [f"{FIRST}.deltacommit"])
    base(tmp_path / "sales.db" / "trips", "a", FIRST)
    parquet(
        tmp_path / "sales.db" / "acid" / "p=1" / "delta_0000001_0000001" / "bucket_0", {"a": [1]}
    )
    tables = by_name(tmp_path)
    assert {name: table.format for name, table in tables.items()} == {
        "sales.acid": "hive-acid",
        "sales.trips": "hudi-mor",
    }


def test_folders_without_a_table_and_hidden_ones_are_none(tmp_path: Path) -> None:
    parquet(tmp_path / "_hidden" / "a.parquet", {"a": [1]})
    parquet(tmp_path / "t" / ".staging" / "a.parquet", {"a": [1]})
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.csv").write_text("a,b\n", encoding="utf-8")
    assert by_name(tmp_path) == {}


def test_what_was_not_looked_at_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        parquet(tmp_path / name / "a.parquet", {"a": [1]})
    monkeypatch.setattr(folder_listing, "MOST_FOLDERS", 3)
    usage = scanned(tmp_path)
    assert [table.name for table in usage.tables] == ["a", "b"]
    why = "it has more than 3 folders; not all were looked at"
    assert usage.unlisted == {str(tmp_path): why}


@pytest.mark.parametrize("address", ["nosuch/folder", "nosuch"])
def test_a_folder_that_there_is_not_is_wrong_use(address: str) -> None:
    with pytest.raises(UsageProblem, match=f"no folder {address}; allowed: a folder, such as s3:"):
        scan.scan(address, (), Progress())


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file:{}/"])
def test_a_location_of_the_disk_is_read_in_every_form(tmp_path: Path, form: str) -> None:
    (tmp_path / "b c").write_text("x")
    (tmp_path / ".hidden").mkdir()
    folder = at(form.format(tmp_path))
    assert [(file.name, file.folder) for file in folder.listed()] == [
        (".hidden", True),
        ("b c", False),
    ]
    assert folder.text("b c") == b"x"
    assert folder.text("gone") is None
    assert folder.listed("gone") == ()
    assert folder.exists()
    assert not at(f"{tmp_path}/gone").exists()


def test_a_table_in_a_store_is_read_through_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    store = fs.FileSystem.from_uri("mock:///")[0]
    store.create_dir("bucket/t/p=1")
    with store.open_output_stream("bucket/t/p=1/a.parquet") as file:
        file.write(b"abc")
    monkeypatch.setattr(table_folder, "_files", lambda scheme, _: {"s3": store}[scheme])
    folder = at("s3a://key:secret@bucket/t/")
    assert folder == TableFolder("bucket/t", store)
    assert [[file.path for file in files] for files in folder.walk()] == [[], ["p=1/a.parquet"]]
    with folder.opened("p=1/a.parquet") as actual:
        assert actual.read() == b"abc"
    assert holding(folder, "s3a://bucket/t", "s3://bucket/t/m/v1.json") == (folder, "m/v1.json")
    assert holding(folder, "s3a://bucket/t", "s3n://bucket/tt/v1.json")[0].root == "bucket/tt"


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("", "the catalog has no location of it"),
        ("nowhere://user:secret@host/t", "Unrecognized filesystem type"),
    ],
)
def test_a_location_that_nothing_reads_is_reported(location: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why) as raised:
        at(location)
    assert "secret" not in str(raised.value)


def test_a_folder_that_may_not_be_read_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forbidding:
        def get_file_info(self, _: object) -> object:
            raise PermissionError(13, "Permission denied")

    with pytest.raises(UnreadableError, match="Permission denied"):
        TableFolder("/x", Forbidding()).listed()


def test_credentials_in_what_a_store_says_are_left_out() -> None:
    class Talking:
        def get_file_info(self, _: object) -> object:
            raise pa.ArrowInvalid("cannot open s3://key:secret@bucket/t\nDetail: more")

    with pytest.raises(UnreadableError) as raised:
        TableFolder("/x", Talking()).listed()
    assert str(raised.value) == "cannot open s3://bucket/t"


def test_a_record_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_folder, "LARGEST", 1 << 20)
    (tmp_path / "a").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(UnreadableError, match="a is larger than 1 MiB"):
        at(str(tmp_path)).text("a")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (metastore_table(read_by=PARQUET), UsedFormat.HIVE_PARQUET),
        (metastore_table(read_by=ORC, transactional="true"), UsedFormat.HIVE_ACID),
        (metastore_table(read_by=HUDI), UsedFormat.HUDI),
        (metastore_table(read_by=REALTIME), UsedFormat.HUDI_MOR),
        (metastore_table(read_by=PARQUET, spark__sql__sources__provider="HUDI"), UsedFormat.HUDI),
        (metastore_table(table_type="ICEBERG"), UsedFormat.ICEBERG),
        (metastore_table(read_by=PARQUET, spark__sql__sources__provider="delta"), UsedFormat.DELTA),
        (metastore_table(storage_handler="io.delta.hive.DeltaStorageHandler"), UsedFormat.DELTA),
        (metastore_table(kind="MATERIALIZED_VIEW", read_by=ORC), UsedFormat.VIEW),
        (metastore_table(read_by=AVRO), UsedFormat.HIVE_AVRO),
        (metastore_table(read_by=TEXT), UsedFormat.OTHER),
        (metastore_table(read_by=TEXT, library=DELIMITED), UsedFormat.HIVE_TEXT),
        (metastore_table(read_by=TEXT, library="a.JsonSerDe"), UsedFormat.OTHER),
        (ttypes.Table(tableName="t", dbName="d"), UsedFormat.OTHER),
    ],
)
def test_an_entry_tells_the_format(table: ttypes.Table, expected: UsedFormat) -> None:
    assert catalog_table(table).format is expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (metastore_table("t", REALTIME), "base_name"),
        (metastore_table("t_rt", REALTIME), "snapshot"),
        (metastore_table("t_ro", HUDI, serde=RO), "read_optimized"),
        (metastore_table("t", HUDI, serde=RO), "read_optimized"),  # hive_sync.skip_ro_suffix
        (metastore_table("t_rt", PARQUET), "snapshot"),  # none of Hudi's
    ],
)
def test_an_entry_of_a_merge_on_read_table_is_one_of_its_views(
    table: ttypes.Table, expected: str
) -> None:
    assert catalog_table(table).view == expected


def test_nothing_of_the_parameters_is_kept_but_what_is_needed() -> None:
    actual = catalog_table(
        metastore_table(
            read_by="my.CustomInputFormat",
            serde={"password": "secret"},
            secret="secret",  # noqa: S106 - it must not come out again
            transactional_properties="insert_only",
        )
    )
    assert "secret" not in repr(actual)
    assert actual.kind == "CustomInputFormat"
    assert actual.insert_only
