"""What tables say of themselves was committed: real timelines, named metadata, plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import formats
from harness.formats.api import Committed, FileFactError
from harness.formats.iceberg import table as iceberg_table
from harness.runtime.metastore_objects import CatalogEntry, unlisted_folders
from tests.builders.iceberg_folder import IcebergFolder

TIMELINES = Path(__file__).parent / "timelines"
"""Of tables that Spark wrote with the version of Hudi in the name, files of rows left out."""
JOB = "6e2b3c60-0d5c-4d3a-8a5e-000000000001"


def entry(*partitions: str, columns: tuple[str, ...] = ("id",), **parameters: str) -> CatalogEntry:
    listed: list[dict[str, Any]] = [
        {"sd": {"location": f"file:{{location}}/{partition}"}} for partition in partitions
    ]
    cols = [{"name": column, "type": "string"} for column in columns]
    keys = [{"name": "p", "type": "string"}]
    table = {"sd": {"cols": cols}, "partitionKeys": keys, "parameters": parameters}
    return CatalogEntry("t", table, tuple(listed))


@pytest.mark.parametrize(
    ("table", "instants"),
    [
        ("committed_0.15.0", ("20261125050122054",)),
        ("committed_1.0.2", ("20261125062924811",)),
        ("raised_before_0.15.0", ()),
        ("raised_before_1.0.2", ()),
    ],
)
def test_an_instant_counts_once_it_is_completed_in_either_layout(
    table: str, instants: tuple[str, ...]
) -> None:
    found = formats.load("hudi-cow").committed(TIMELINES / table, ())
    assert found == Committed(instants)


def test_iceberg_metadata_counts_where_the_catalog_names_it(tmp_path: Path) -> None:
    iceberg, folder = formats.load("iceberg"), IcebergFolder(tmp_path)
    assert iceberg.committed(tmp_path, ()) == Committed()
    first = folder.metadata(0)
    named = (entry(metadata_location=f"file:{{location}}/metadata/{first.name}"),)
    before = iceberg.committed(tmp_path, named)
    assert before == Committed((), "0 0 -1")
    second = folder.metadata(1, **{"current-schema-id": 1})
    died = iceberg.committed(tmp_path, named)
    assert (died, died.begun) == (before, (second.name,)), "nobody completed the second one"
    now = (entry(metadata_location=f"file:{{location}}/metadata/{second.name}"),)
    assert iceberg.committed(tmp_path, now) == Committed((), "1 0 -1")


def test_of_two_metadata_files_of_one_number_the_catalog_or_the_later_one_counts(
    tmp_path: Path,
) -> None:
    folder = IcebergFolder(tmp_path)
    dead, next_ = folder.metadata(1), folder.metadata(2, **{"last-updated-ms": 2})
    next_ = next_.rename(next_.with_name(next_.name.replace("00002-", "00001-")))
    found = iceberg_table.table(tmp_path)
    assert found is not None
    assert (found.name, found.others) == (next_.name, (dead.name,))
    named = (entry(metadata_location=f"file:{{location}}/metadata/{dead.name}"),)
    by_catalog = iceberg_table.table(tmp_path, named)
    assert by_catalog is not None
    assert by_catalog.name == dead.name
    dead.unlink()
    with pytest.raises(FileFactError, match=r"the catalog names the metadata .* not there"):
        iceberg_table.table(tmp_path, named)


def written(folder: Path, partition: str, *keys: str, part: int = 0) -> None:
    path = folder / partition / f"part-{part:05d}-{JOB}.c000.snappy.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": list(keys)}), path)


def test_plain_files_count_where_the_catalog_lists_their_partition(tmp_path: Path) -> None:
    plain = formats.load("hive-parquet")
    before = plain.committed(tmp_path, (entry(),))
    written(tmp_path, "p=1", "a")
    with pytest.raises(FileFactError, match="the catalog does not list the files in p=1"):
        plain.committed(tmp_path, (entry(),))
    after = plain.committed(tmp_path, (entry("p=1"),))
    assert (before.writes, after.writes) == ((), (JOB,))
    assert before.schema == after.schema
    assert plain.committed(tmp_path, (entry("p=1", columns=("n",)),)).schema != after.schema


def test_a_plain_write_is_whole_where_its_files_hold_all_of_its_rows(tmp_path: Path) -> None:
    plain = formats.load("hive-parquet")
    written(tmp_path, "p=1", "a", "b")
    files = plain.facts(tmp_path, "id")
    assert plain.partial_write(files, [JOB], {"a", "b"}) == ""
    assert plain.partial_write(files, [], {"a", "b"}) == ""
    half = plain.partial_write(files, [JOB], {"a", "b", "c"})
    assert half == "of the rows a, b, c its files hold a, b"


def test_folders_that_no_partition_has_are_unlisted() -> None:
    files = ["p=a=b 50%25/1.parquet", "p=plain/2.parquet", "p=plain/3.parquet"]
    assert unlisted_folders([entry()], files) == ("p=a=b 50%25", "p=plain")
    assert unlisted_folders([entry("p=plain"), entry("p=plain")], files) == ("p=a=b 50%25",)
    assert unlisted_folders([entry("p=plain"), entry()], files) == ("p=a=b 50%25", "p=plain")


def test_in_a_transactional_table_a_write_has_a_folder_in_that_of_its_partition() -> None:
    files = ["p=plain/delta_0000001_0000001_0000/bucket_00000", "p=b/base_0000002/bucket_00000"]
    assert unlisted_folders([entry("p=plain")], files) == ("p=b",)


def test_a_table_without_partitions_has_none_unlisted() -> None:
    plain = CatalogEntry("t", {"sd": {"cols": []}, "partitionKeys": []})
    assert unlisted_folders([plain], ["1.parquet"]) == ()
    assert unlisted_folders([], ["p=1/1.parquet"]) == ()
