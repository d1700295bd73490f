"""Tables are found below a folder by what lies in it.

`warehouse/` was written by PyIceberg 0.12.0 and delta-rs 1.6.6 at another place.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyarrow import fs

from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.formats.files import table_folder
from harness.usage import folder_listing, scan
from harness.usage.usage_file import Fact, Usage, UsedTable
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
