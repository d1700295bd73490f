"""What the records of a Hudi table tell."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from harness.formats.files.table_folder import UnreadableError, at
from harness.usage import hudi_table
from harness.usage.used_tables import Fact, UsedFormat
from tests.builders.table_folders import (
    FIRST,
    HUDI_6,
    HUDI_9,
    SECOND,
    THIRD,
    avro,
    base,
    entry,
    history,
    hudi,
    log,
    parquet,
    short,
)

MINE = entry({"id": "string"}, UsedFormat.HUDI)
RENAMED = (
    ("0", {5: ("id", "string"), 6: ("f1", "int")}),
    (SECOND, {5: ("id", "string"), 6: ("g", "int")}),
)
COMMITS_9 = (f"{FIRST}_{FIRST}.commit", f"{SECOND}_{SECOND}.commit", f"{THIRD}_{THIRD}.commit")


def test_properties_and_the_timeline_of_version_6_are_read(tmp_path: Path) -> None:
    names = (
        *(
            f"{FIRST}.deltacommit",
            f"{FIRST}.deltacommit.requested",
            f"{FIRST}.deltacommit.inflight",
        ),
        *(f"{SECOND}.compaction.requested", f"{SECOND}.compaction.inflight"),
        *(f"{THIRD}.rollback", f".{FIRST}.deltacommit.crc"),
    )
    found = hudi_table.read(hudi(tmp_path, HUDI_6, names), MINE)
    assert (found.format, found.table_version) == (UsedFormat.HUDI_MOR, "6")
    assert not found.partitioned
    assert list(found.features) == ["ordering-field", "pending-compaction", "rolled-back"]
    assert (found.schema_changes, found.unknown) == ((), ())


def test_properties_and_the_timeline_of_version_9_are_read(tmp_path: Path) -> None:
    names = (*COMMITS_9, f"{THIRD}1.clustering.requested")
    folder = hudi(tmp_path, HUDI_9, names, ".hoodie/timeline")
    found = hudi_table.read(folder, MINE)
    assert (found.format, found.table_version) == (UsedFormat.HUDI_COW, "9")
    assert found.partitioned
    assert list(found.features) == ["event-time-ordering", "ordering-field", "pending-clustering"]


def test_a_timeline_that_left_its_folder_is_found(tmp_path: Path) -> None:
    names = (f"{FIRST}.commit", f"{SECOND}.clustering.requested")
    found = hudi_table.read(hudi(tmp_path, HUDI_9, names), MINE)
    assert "pending-clustering" in found.features


@pytest.mark.parametrize("begun", [f"{SECOND}.inflight", f"{SECOND}.commit.requested"])
def test_a_commit_that_was_begun_is_pending_also_without_its_action(
    tmp_path: Path, begun: str
) -> None:
    names = (f"{FIRST}.commit", begun)
    found = hudi_table.read(hudi(tmp_path, HUDI_6, names), MINE)
    assert "pending-write" in found.features


@pytest.mark.parametrize(("plan", "word"), [("CLUSTER", "clustering"), ("", "replacement")])
def test_the_plan_of_a_replacement_says_whether_it_is_a_clustering(
    tmp_path: Path, plan: str, word: str
) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.replacecommit.requested"])
    (tmp_path / ".hoodie" / f"{FIRST}.replacecommit.requested").write_text(plan)
    assert f"pending-{word}" in hudi_table.read(folder, MINE).features


def test_a_change_with_an_older_base_file_has_old_files(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit", f"{SECOND}.commit"])
    history(tmp_path, *RENAMED)
    base(tmp_path, "a", FIRST)
    base(tmp_path, "b", SECOND)
    found = hudi_table.read(folder, MINE)
    assert short(found.schema_changes) == ["rename f1 g yes"]
    assert [writer.partition(" ")[0] for writer in found.writers] == ["parquet-cpp-arrow"]


def test_a_file_group_that_was_rewritten_since_is_not_old(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit", f"{THIRD}.commit"])
    history(tmp_path, *RENAMED)
    base(tmp_path, "a", FIRST)
    base(tmp_path, "a", THIRD)
    log(tmp_path, "a", THIRD)
    found = hudi_table.read(folder, MINE)
    assert short(found.schema_changes) == ["rename f1 g no"]
    assert "log-files" in found.features


def test_a_base_file_that_was_not_completed_rewrites_nothing(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit", f"{THIRD}.compaction.requested"])
    history(tmp_path, *RENAMED)
    base(tmp_path, "a", FIRST)
    base(tmp_path, "a", THIRD)
    assert short(hudi_table.read(folder, MINE).schema_changes) == ["rename f1 g yes"]


@pytest.mark.parametrize("older", [[], ["1.clean"]])
def test_files_of_archived_commits_count(older: list[str], tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [*older, f"{THIRD}.commit"])
    history(tmp_path, *RENAMED)
    base(tmp_path, "a", FIRST)
    assert short(hudi_table.read(folder, MINE).schema_changes) == ["rename f1 g yes"]


def test_log_files_alone_are_old_files(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.deltacommit", f"{SECOND}.deltacommit"])
    history(tmp_path, *RENAMED)
    log(tmp_path / "p=a", "a", FIRST)
    found = hudi_table.read(folder, MINE)
    assert short(found.schema_changes) == ["rename f1 g yes"]


def replaced(folder: Path, record: bytes) -> list[str]:
    """Replace the file group `a` by `b`, by a record of this text, and tell the changes."""
    root = hudi(folder, HUDI_9, COMMITS_9[:2], ".hoodie/timeline")
    (folder / ".hoodie" / "timeline" / f"{THIRD}_{THIRD}.replacecommit").write_bytes(record)
    history(folder, *RENAMED)
    base(folder, "a", FIRST)
    base(folder, "b", THIRD)
    found = hudi_table.read(root, MINE)
    assert "replaced-file-groups" in found.features
    return short(found.schema_changes)


GROUPS = {"partitionToReplaceFileIds": {"": ["a-0"]}}


def test_file_groups_that_were_replaced_are_not_read_any_more(tmp_path: Path) -> None:
    types = {
        "partitionToReplaceFileIds": {"type": "map", "values": {"type": "array", "items": "string"}}
    }
    assert replaced(tmp_path / "json", json.dumps(GROUPS).encode()) == ["rename f1 g no"]
    assert replaced(tmp_path / "avro", avro([GROUPS], types)) == ["rename f1 g no"]


def test_where_a_replacement_cannot_be_understood_old_files_are_unknown(tmp_path: Path) -> None:
    assert replaced(tmp_path, b"Obj\x01broken") == ["rename f1 g unknown"]


def test_partition_columns_stand_last_whatever_is_added(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_9, COMMITS_9, ".hoodie/timeline")
    before = {5: ("id", "string"), 6: ("p", "string")}
    after = {5: ("id", "string"), 7: ("f", "int"), 6: ("p", "string")}
    history(tmp_path, ("0", before), (SECOND, after))
    assert short(hudi_table.read(folder, MINE).schema_changes) == ["add f end no"]


def test_a_history_that_cannot_be_understood_is_unknown(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit"])
    history(tmp_path, *RENAMED)
    (tmp_path / ".hoodie" / ".schema" / f"{THIRD}.schemacommit").write_text("{")
    found = hudi_table.read(folder, MINE)
    assert found.unknown == (Fact.SCHEMA_CHANGES,)
    assert f"{THIRD}.schemacommit cannot be understood" in found.why


def test_without_a_history_the_oldest_base_file_is_compared_with_the_catalog(
    tmp_path: Path,
) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit", f"{SECOND}.commit"])
    base(tmp_path / "p=a", "a", FIRST, {"id": ["1"], "p": ["a"]})
    base(tmp_path / "p=b", "b", SECOND, {"id": ["1"], "f1": [1], "p": ["b"]})
    columns = {"_hoodie_commit_time": "string", "id": "string", "f1": "bigint"}
    found = hudi_table.read(folder, entry(columns, UsedFormat.HUDI, "p"))
    assert short(found.schema_changes) == ["add f1 end yes"]


def test_a_timestamp_that_the_catalog_has_as_a_number_is_no_change(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit"])
    base(tmp_path, "a", FIRST, {"at": pa.array([1], pa.timestamp("us")), "n": [1.5]})
    found = hudi_table.read(folder, entry({"at": "bigint", "n": "int"}, UsedFormat.HUDI))
    assert short(found.schema_changes) == ["change n int yes"]


def test_log_files_without_a_base_file_leave_it_open(tmp_path: Path) -> None:
    log(tmp_path, "a", FIRST)
    found = hudi_table.read(hudi(tmp_path, HUDI_6, [f"{FIRST}.deltacommit"]), MINE)
    assert found.unknown == (Fact.SCHEMA_CHANGES,)


def test_a_base_file_that_is_none_leaves_it_open(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit"])
    base(tmp_path, "a", FIRST).write_bytes(b"not Parquet")
    found = hudi_table.read(folder, MINE)
    assert found.unknown == (Fact.SCHEMA_CHANGES,)
    assert "Parquet magic bytes" in found.why


def test_a_folder_without_properties_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"there is no \.hoodie/hoodie\.properties"):
        hudi_table.read(at(str(tmp_path / "gone")), MINE)


def test_the_copy_of_properties_serves_while_they_are_written(tmp_path: Path) -> None:
    folder = hudi(tmp_path, "", [])
    (tmp_path / ".hoodie" / "hoodie.properties.backup").write_text(HUDI_9)
    assert hudi_table.read(folder, MINE).table_version == "9"


def test_what_is_not_usual_in_properties_has_a_word(tmp_path: Path) -> None:
    more = (
        "hoodie.table.partition.fields=p\nhoodie.datasource.write.hive_style_partitioning=false\n"
        "hoodie.table.keygenerator.class=org.apache.hudi.keygen.TimestampBasedKeyGenerator\n"
        "hoodie.compaction.payload.class=my.Payload\nhoodie.populate.meta.fields=false\n"
        "hoodie.table.metadata.partitions=files,column_stats\nhoodie.table.base.file.format=ORC\n"
    )
    found = hudi_table.read(hudi(tmp_path, HUDI_6 + more, []), MINE)
    assert set(found.features) == {
        *("column-statistics", "custom-payload", "metadata-table", "no-meta-columns"),
        *("orc-base-files", "ordering-field", "plain-partition-folders"),
        "timestamp-key-generator",
    }


def test_base_files_of_another_kind_are_not_looked_at(tmp_path: Path) -> None:
    more = "hoodie.table.base.file.format=ORC\n"
    folder = hudi(tmp_path, HUDI_6 + more, [f"{FIRST}.commit"])
    history(tmp_path, *RENAMED)
    found = hudi_table.read(folder, MINE)
    assert short(found.schema_changes) == ["rename f1 g unknown"]
    assert found.why == "its base files are of ORC, which are not looked at"


def test_files_beside_the_data_are_no_data(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit"])
    history(tmp_path, *RENAMED)
    parquet(tmp_path / ".hoodie" / "metadata" / f"a-0_0-1-2_{FIRST}.parquet", {"x": [1]})
    assert short(hudi_table.read(folder, MINE).schema_changes) == ["rename f1 g no"]
