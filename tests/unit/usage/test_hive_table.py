import os
from dataclasses import replace
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc

from harness.formats.files.table_folder import UnreadableError, at
from harness.usage import hive_table
from harness.usage.usage_file import Fact, UsedFormat
from tests.builders.table_folders import entry, parquet, short

COLUMNS = {"id": "string", "f1": "int"}


def test_the_file_that_was_modified_first_is_compared_with_the_catalog(tmp_path: Path) -> None:
    parquet(tmp_path / "p=b" / "new.parquet", {"id": ["1"], "f1": pa.array([1], pa.int32())})
    old = parquet(tmp_path / "p=c" / "old.parquet", {"id": ["1"]})
    os.utime(old, (1, 1))
    hidden = parquet(tmp_path / ".staging" / "other.parquet", {"x": ["1"]})
    os.utime(hidden, (0, 0))
    (tmp_path / "_SUCCESS").touch()
    facts = hive_table.read(at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_PARQUET, "p"))
    assert short(facts.schema_changes) == ["add f1 end yes"]
    assert facts.partitioned
    assert facts.writers
    assert facts.unknown == ()


def test_files_of_orc_are_read_whatever_they_are_called(tmp_path: Path) -> None:
    orc.write_table(pa.table({"id": ["1"], "f1": pa.array([1], pa.int64())}), tmp_path / "000000_0")
    facts = hive_table.read(at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_ORC))
    assert short(facts.schema_changes) == ["change f1 int yes"]


def test_files_of_avro_are_compared_with_the_catalog(tmp_path: Path) -> None:
    fields = [{"name": "id", "type": ["null", "string"]}, {"name": "f1", "type": "long"}]
    with (tmp_path / "part-0").open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, [])
    facts = hive_table.read(at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_AVRO))
    assert short(facts.schema_changes) == ["change f1 int yes"]
    assert facts.unknown == ()


def test_of_files_of_text_nobody_knows_the_columns(tmp_path: Path) -> None:
    table = entry(COLUMNS, UsedFormat.HIVE_TEXT)
    assert hive_table.read(at(str(tmp_path)), table).unknown == ()
    (tmp_path / "part-0").write_text("1\x012\n")
    facts = hive_table.read(at(str(tmp_path)), table)
    assert facts.unknown == (Fact.SCHEMA_CHANGES,)
    assert facts.why == "text files do not say which columns they have"


def test_old_orc_files_without_names_of_columns_are_reported(tmp_path: Path) -> None:
    orc.write_table(pa.table({"_col0": ["1"], "_col1": ["2"]}), tmp_path / "000000_0")
    facts = hive_table.read(at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_ORC))
    assert facts.features == ("files-without-column-names",)
    assert facts.schema_changes == ()
    assert facts.unknown == ()


def test_a_transactional_table_tells_its_deltas_and_the_columns_in_its_rows(tmp_path: Path) -> None:
    row = pa.array([{"id": "1"}], pa.struct([("id", pa.string())]))
    bucket = tmp_path / "delta_0000001_0000001_0000" / "bucket_00000"
    bucket.parent.mkdir()
    orc.write_table(pa.table({"operation": pa.array([0], pa.int32()), "row": row}), bucket)
    deletes = tmp_path / "delete_delta_0000002_0000002_0000" / "bucket_00000"
    deletes.parent.mkdir()
    deletes.write_bytes(bucket.read_bytes())
    facts = hive_table.read(at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_ACID))
    assert facts.features == ("delete-deltas", "deltas", "full-acid")
    assert short(facts.schema_changes) == ["add f1 end yes"]
    only = replace(entry(COLUMNS, UsedFormat.HIVE_ACID), insert_only=True)
    assert "insert-only" in hive_table.read(at(str(tmp_path)), only).features


@pytest.mark.parametrize(
    ("partition_by", "text", "unknown"),
    [
        ((), "", ()),  # a table without files never changed
        (("p",), "", (Fact.SCHEMA_CHANGES,)),  # partitions may have theirs elsewhere
        ((), "no file of Parquet", (Fact.SCHEMA_CHANGES,)),
    ],
)
def test_without_a_file_that_can_be_read_only_an_empty_table_is_known(
    tmp_path: Path, partition_by: tuple[str, ...], text: str, unknown: tuple[Fact, ...]
) -> None:
    if text:
        (tmp_path / "a").write_text(text)
    facts = hive_table.read(
        at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_PARQUET, *partition_by)
    )
    assert (facts.schema_changes, facts.unknown, facts.writers) == ((), unknown, ())


def test_of_a_table_of_too_many_folders_not_all_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.formats.files.table_folder.MOST_FOLDERS", 2)
    for string in "abc":
        parquet(tmp_path / f"p={string}" / "a.parquet", {"id": ["1"]})
    facts = hive_table.read(at(str(tmp_path)), entry(COLUMNS, UsedFormat.HIVE_PARQUET, "p"))
    assert facts.unknown == (Fact.SCHEMA_CHANGES,)
    assert facts.why == "it has more than 2 folders; not all were looked at"
    assert short(facts.schema_changes) == ["add f1 end yes"]


def test_a_folder_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="its folder is gone"):
        hive_table.read(at(str(tmp_path / "gone")), entry(COLUMNS, UsedFormat.HIVE_PARQUET))
