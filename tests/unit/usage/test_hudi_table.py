import json
from pathlib import Path

import pyarrow as pa
import pytest

from harness.formats.files.table_folder import UnreadableError, at
from harness.usage import hudi_table
from harness.usage.usage_file import Fact, UsedFormat, UsedTable
from tests.builders.table_folders import (
    FIRST,
    HUDI_6,
    HUDI_9,
    SECOND,
    THIRD,
    base,
    entry,
    history,
    hudi,
    log,
    parquet,
    short,
)

TABLE = entry({"id": "string"}, UsedFormat.HUDI)
RENAMED = (
    ("0", {5: ("id", "string"), 6: ("f1", "int")}),
    (SECOND, {5: ("id", "string"), 6: ("g", "int")}),
)
COMMITS_9 = (f"{FIRST}_{FIRST}.commit", f"{SECOND}_{SECOND}.commit", f"{THIRD}_{THIRD}.commit")
GROUPS = {"partitionToReplaceFileIds": {"": ["a-0"]}}
LAYOUT_2 = ".hoodie/timeline"
REWRITTEN = [("a", FIRST), ("a", THIRD)]


def read(
    folder: Path, properties: str, *names: str, home: str = ".hoodie", table: object = TABLE
) -> UsedTable:
    root = at(str(folder)) if (folder / ".hoodie" / "hoodie.properties").exists() else None
    return hudi_table.read(root or hudi(folder, properties, names, home), table)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("properties", "home", "names", "facts", "features"),
    [
        (
            HUDI_6,
            ".hoodie",
            [
                f"{FIRST}.deltacommit",
                f"{FIRST}.deltacommit.inflight",
                f"{SECOND}.compaction.requested",
                f"{THIRD}.rollback",
                f".{FIRST}.deltacommit.crc",
            ],
            (UsedFormat.HUDI_MOR, "6", False),
            ["ordering-field", "pending-compaction", "rolled-back"],
        ),
        (
            HUDI_9,
            LAYOUT_2,
            [*COMMITS_9, f"{THIRD}1.clustering.requested"],
            (UsedFormat.HUDI_COW, "9", True),
            ["event-time-ordering", "ordering-field", "pending-clustering"],
        ),
        (  # A commit that was begun is pending also without its action.
            HUDI_6,
            ".hoodie",
            [f"{FIRST}.commit", f"{SECOND}.inflight"],
            (UsedFormat.HUDI_MOR, "6", False),
            ["ordering-field", "pending-write"],
        ),
    ],
)
def test_properties_and_timeline_tell_format_version_and_features(
    tmp_path: Path,
    properties: str,
    home: str,
    names: list[str],
    facts: tuple[UsedFormat, str, bool],
    features: list[str],
) -> None:
    table = read(tmp_path, properties, *names, home=home)
    assert (table.format, table.table_version, table.partitioned) == facts
    assert list(table.features) == features
    assert (table.schema_changes, table.unknown) == ((), ())


@pytest.mark.parametrize(("plan", "word"), [("CLUSTER", "clustering"), ("", "replacement")])
def test_the_plan_of_a_replacement_says_whether_it_is_a_clustering(
    tmp_path: Path, plan: str, word: str
) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.replacecommit.requested"])
    (tmp_path / ".hoodie" / f"{FIRST}.replacecommit.requested").write_text(plan)
    assert f"pending-{word}" in hudi_table.read(folder, TABLE).features


@pytest.mark.parametrize(
    ("names", "bases", "logs", "old_files"),
    [
        ([f"{FIRST}.commit", f"{SECOND}.commit"], [("a", FIRST), ("b", SECOND)], [], "yes"),
        # Rewritten since, and not so where the rewriting was not completed.
        ([f"{FIRST}.commit", f"{THIRD}.commit"], REWRITTEN, [("a", THIRD)], "no"),
        ([f"{FIRST}.commit", f"{THIRD}.compaction.requested"], REWRITTEN, [], "yes"),
        # Files of commits that were archived count.
        (["1.clean", f"{THIRD}.commit"], [("a", FIRST)], [], "yes"),
        # Log files alone.
        ([f"{FIRST}.deltacommit", f"{SECOND}.deltacommit"], [], [("a", FIRST)], "yes"),
    ],
)
def test_a_change_has_old_files_where_the_newest_of_a_group_is_older(
    tmp_path: Path,
    names: list[str],
    bases: list[tuple[str, str]],
    logs: list[tuple[str, str]],
    old_files: str,
) -> None:
    folder = hudi(tmp_path, HUDI_6, names)
    history(tmp_path, *RENAMED)
    for group, instant in bases:
        base(tmp_path, group, instant)
    for group, instant in logs:
        log(tmp_path, group, instant)
    table = hudi_table.read(folder, TABLE)
    assert short(table.schema_changes) == [f"rename f1 g {old_files}"]
    assert ("log-files" in table.features, bool(table.writers)) == (bool(logs), bool(bases))


def test_a_timeline_lies_in_the_folder_that_the_properties_name(tmp_path: Path) -> None:
    properties = HUDI_9.replace("path=timeline", "path=times")
    folder = hudi(tmp_path, properties, COMMITS_9, ".hoodie/times")
    history(tmp_path, *RENAMED)
    base(tmp_path, "a", FIRST)
    assert short(hudi_table.read(folder, TABLE).schema_changes) == ["rename f1 g yes"]


@pytest.mark.parametrize(
    ("record", "old_files"),
    [(json.dumps(GROUPS).encode(), "no"), (b"Obj\x01broken", "unknown")],
    ids=["JSON", "broken Avro"],
)
def test_file_groups_that_were_replaced_are_not_read_any_more(
    tmp_path: Path, record: bytes, old_files: str
) -> None:
    folder = hudi(tmp_path, HUDI_9, COMMITS_9[:2], LAYOUT_2)
    (tmp_path / LAYOUT_2 / f"{THIRD}_{THIRD}.replacecommit").write_bytes(record)
    history(tmp_path, *RENAMED)
    base(tmp_path, "a", FIRST)
    base(tmp_path, "b", THIRD)
    table = hudi_table.read(folder, TABLE)
    assert "replaced-file-groups" in table.features
    assert short(table.schema_changes) == [f"rename f1 g {old_files}"]


def test_partition_columns_stand_last_whatever_is_added(tmp_path: Path) -> None:
    before = {5: ("id", "string"), 6: ("p", "string")}
    after = {5: ("id", "string"), 7: ("f", "int"), 6: ("p", "string")}
    folder = hudi(tmp_path, HUDI_9, COMMITS_9, LAYOUT_2)
    history(tmp_path, ("0", before), (SECOND, after))
    assert short(hudi_table.read(folder, TABLE).schema_changes) == ["add f end no"]


def test_a_history_that_cannot_be_understood_is_unknown(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit"])
    history(tmp_path, *RENAMED)
    (tmp_path / ".hoodie" / ".schema" / f"{THIRD}.schemacommit").write_text("{")
    table = hudi_table.read(folder, TABLE)
    assert table.unknown == (Fact.SCHEMA_CHANGES,)
    assert f"{THIRD}.schemacommit cannot be understood" in table.why


def test_without_a_history_the_oldest_base_file_is_compared_with_the_catalog(
    tmp_path: Path,
) -> None:
    base(tmp_path / "p=a", "a", FIRST, {"id": ["1"], "p": ["a"]})
    base(tmp_path / "p=b", "b", SECOND, {"id": ["1"], "f1": [1], "p": ["b"]})
    columns = {"_hoodie_commit_time": "string", "id": "string", "f1": "bigint"}
    catalog = entry(columns, UsedFormat.HUDI, "p")
    table = read(tmp_path, HUDI_6, f"{FIRST}.commit", f"{SECOND}.commit", table=catalog)
    assert short(table.schema_changes) == ["add f1 end yes"]


def test_a_timestamp_that_the_catalog_has_as_a_number_is_no_change(tmp_path: Path) -> None:
    base(tmp_path, "a", FIRST, {"at": pa.array([1], pa.timestamp("us")), "n": [1.5]})
    catalog = entry({"at": "bigint", "n": "int"}, UsedFormat.HUDI)
    table = read(tmp_path, HUDI_6, f"{FIRST}.commit", table=catalog)
    assert short(table.schema_changes) == ["change n int yes"]


def test_what_no_base_file_tells_is_unknown(tmp_path: Path) -> None:
    log(tmp_path / "logs", "a", FIRST)
    table = read(tmp_path / "logs", HUDI_6, f"{FIRST}.deltacommit")
    assert table.unknown == (Fact.SCHEMA_CHANGES,)
    base(tmp_path / "broken", "a", FIRST).write_bytes(b"not Parquet")
    table = read(tmp_path / "broken", HUDI_6, f"{FIRST}.commit")
    assert table.unknown == (Fact.SCHEMA_CHANGES,)
    assert "Parquet magic bytes" in table.why
    folder = hudi(tmp_path / "orc", f"{HUDI_6}hoodie.table.base.file.format=ORC\n", [])
    history(tmp_path / "orc", *RENAMED)
    table = hudi_table.read(folder, TABLE)
    assert short(table.schema_changes) == ["rename f1 g unknown"]
    assert table.why == "its base files are of ORC, which are not looked at"


def test_of_data_files_without_a_timeline_nothing_is_known(tmp_path: Path) -> None:
    base(tmp_path, "a", FIRST)
    table = read(tmp_path, HUDI_9)
    assert table.unknown == (Fact.FEATURES, Fact.SCHEMA_CHANGES)
    assert "no timeline that says what it is part of" in table.why


def test_a_folder_without_properties_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"there is no \.hoodie/hoodie\.properties"):
        hudi_table.read(at(str(tmp_path / "gone")), TABLE)


def test_the_copy_of_properties_serves_while_they_are_written(tmp_path: Path) -> None:
    folder = hudi(tmp_path, "", [])
    (tmp_path / ".hoodie" / "hoodie.properties.backup").write_text(HUDI_9)
    assert hudi_table.read(folder, TABLE).table_version == "9"


def test_what_is_not_usual_in_properties_has_a_word(tmp_path: Path) -> None:
    more = (
        "hoodie.table.partition.fields=p\nhoodie.datasource.write.hive_style_partitioning=false\n"
        "hoodie.table.keygenerator.class=org.apache.hudi.keygen.TimestampBasedKeyGenerator\n"
        "hoodie.compaction.payload.class=my.Payload\nhoodie.populate.meta.fields=false\n"
        "hoodie.table.metadata.partitions=files,column_stats\nhoodie.table.base.file.format=ORC\n"
    )
    assert set(read(tmp_path, HUDI_6 + more).features) == {
        *("column-statistics", "custom-payload", "metadata-table", "no-meta-columns"),
        *("orc-base-files", "ordering-field", "plain-partition-folders"),
        "timestamp-key-generator",
    }


def test_files_beside_the_data_are_no_data(tmp_path: Path) -> None:
    folder = hudi(tmp_path, HUDI_6, [f"{FIRST}.commit"])
    history(tmp_path, *RENAMED)
    parquet(tmp_path / ".hoodie" / "metadata" / f"a-0_0-1-2_{FIRST}.parquet", {"x": [1]})
    assert short(hudi_table.read(folder, TABLE).schema_changes) == ["rename f1 g no"]
