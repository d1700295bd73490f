from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import formats
from harness.formats.api import NO_COMMIT, Committed, FileFactError
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.settings import MODES
from harness.formats.iceberg.table import IcebergMetadata
from harness.model.commit import Moment
from harness.model.file_facts import FileFact, FileKind
from harness.runtime.metastore_objects import CatalogEntry, WriteIds, unlisted_folders
from harness.scenario.operations.api import Operation, StepTrace
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.services import Archive, Checkpoint, Cluster, Compact
from harness.scenario.operations.snapshots import CreateTag
from harness.scenario.operations.unfinished_writes import AbortTransactions
from harness.write.send_step import TableRecords
from tests.builders.delta_folder import DeltaFolder
from tests.builders.iceberg_folder import IcebergFolder

TIMELINES = Path(__file__).parent / "timelines"
"""Of tables that Spark wrote with the version of Hudi in the name, files of rows left out."""
DELTA = Path(__file__).parent / "delta_tables" / "mapped_later"
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
    actual = formats.load("hudi-cow").committed(TIMELINES / table, ())
    assert actual == Committed(instants)


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
    actual = iceberg_table.table(tmp_path)
    assert (actual.name, actual.others) == (next_.name, (dead.name,))
    named = (entry(metadata_location=f"file:{{location}}/metadata/{dead.name}"),)
    by_catalog = iceberg_table.table(tmp_path, named)
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


FILES = ["p=a=b 50%25/1.parquet", "p=plain/2.parquet", "p=plain/3.parquet"]
ACID_FILES = ["p=plain/delta_0000001_0000001_0000/bucket_00000", "p=b/base_0000002/bucket_00000"]
PLAIN = CatalogEntry("t", {"sd": {"cols": []}, "partitionKeys": []})


@pytest.mark.parametrize(
    ("entries", "files", "unlisted"),
    [
        ([entry()], FILES, ("p=a=b 50%25", "p=plain")),
        ([entry("p=plain"), entry()], FILES, ("p=a=b 50%25", "p=plain")),
        # In a transactional table a write has a folder in that of its partition.
        ([entry("p=plain")], ACID_FILES, ("p=b",)),
        ([PLAIN], ["1.parquet"], ()),
    ],
)
def test_folders_that_no_partition_has_are_unlisted(
    entries: list[CatalogEntry], files: list[str], unlisted: tuple[str, ...]
) -> None:
    assert unlisted_folders(entries, files) == unlisted


def hudi_timeline(table: Path, names: str, home: str = ".hoodie/timeline") -> Path:
    (table / home).mkdir(parents=True)
    for name in names.split():
        (table / home / name).touch()
    return table


def test_writes_of_hudi_are_ordered_by_their_completion(tmp_path: Path) -> None:
    table = hudi_timeline(tmp_path, "100_110.deltacommit 200_400.deltacommit 300_350.commit")
    mor = formats.load("hudi-mor")
    assert mor.instants_before(table, "300") == ("100",), "what a compaction takes in"
    assert mor.instants(table) == ("100", "300", "200")
    assert mor.moment(table, "100") == Moment("100", "110", "350")
    assert mor.moment(table, "200") == Moment("200", "400", "")
    with pytest.raises(KeyError):
        formats.load("hive-parquet").moment(table, "100")


FIRST_LAYOUT = (
    "1.deltacommit.inflight 1.deltacommit 2.commit 2.savepoint 2.savepoint.inflight 5.restore "
    "7.rollback 8.inflight 9.commit.requested"
)
SECOND_LAYOUT = (
    "2.commit.requested 2_11.commit 2_12.savepoint 5_14.restore 7_15.rollback 6.rollback.inflight "
    "8.inflight 9.deltacommit.requested"
)


@pytest.mark.parametrize(
    ("home", "names"), [(".hoodie", FIRST_LAYOUT), (".hoodie/timeline", SECOND_LAYOUT)]
)
def test_a_timeline_has_savepoints_what_was_taken_back_and_what_was_begun(
    tmp_path: Path, home: str, names: str
) -> None:
    committed = formats.load("hudi-mor").committed(hudi_timeline(tmp_path, names, home), ())
    assert (committed.savepoints, committed.undone) == (("2",), ("5", "7"))
    assert committed.begun == ("8", "9")


def test_instants_of_iceberg_are_snapshots_and_tags_are_named_by_their_refs(tmp_path: Path) -> None:
    iceberg = formats.load("iceberg")
    assert (iceberg.instants(tmp_path), iceberg.table_version(tmp_path)) == ((), "")
    folder = IcebergFolder(tmp_path)
    folder.commit(70)
    folder.commit(60)
    folder.metadata(2)
    assert (iceberg.instants(tmp_path), iceberg.table_version(tmp_path)) == (("70", "60"), "2")
    refs = {"main": {"type": "branch"}, "step-2": {"type": "tag"}}
    assert IcebergMetadata({"refs": refs}).tags == ("step-2",)


OPEN, ABORTED = WriteIds(2, open=(2,)), WriteIds(2, aborted=(2,))


@pytest.mark.parametrize(
    ("before", "after", "trace", "done"),
    [
        (WriteIds(1), OPEN, StepTrace.BEGUN, True),
        (OPEN, ABORTED, StepTrace.UNDONE, True),
        (OPEN, OPEN, StepTrace.UNDONE, False),
        # An update that was refused a lock has a number that was aborted, and is no write.
        (OPEN, WriteIds(3, open=(2,), aborted=(3,)), None, False),
    ],
)
def test_numbers_of_writes_show_a_killed_write_and_an_abort(
    before: WriteIds, after: WriteIds, trace: StepTrace | None, *, done: bool
) -> None:
    def records(ids: WriteIds) -> object:
        table = CatalogEntry("t", {"tableName": "t", "sd": {"cols": []}}, write_ids=ids)
        committed = formats.load("hive-acid").committed(Path("/nowhere"), [table])
        return TableRecords(committed, trace=trace).done

    assert (records(before) != records(after)) is done


def base(path: str) -> FileFact:
    return FileFact(path, FileKind.BASE, path, "100", ())


DELETES = FileFact("d", FileKind.LOG, "p=1/a", "200", (), (), ("1",))


@pytest.mark.parametrize(
    ("name", "operation", "files", "missing"),
    [
        ("delta", Cluster(), [base("p=1/a"), base("p=1/b")], "several data files"),
        ("delta", Cluster(), [base("p=1/a"), base("p=2/c")], ""),
        ("delta", Compact(), [base("p=1/a")], ""),
        ("delta", Compact(), [DELETES], "rows were deleted in 1 data files"),
        ("hive-acid", AbortTransactions(), [], "no transaction of the table was aborted"),
        ("hudi-cow", Cluster(), [base("p=1/a"), base("p=1/b")], "2 file groups share a partition"),
        ("hudi-cow", Cluster(), [base("p=1/a"), base("p=2/b")], ""),
        ("iceberg", Compact(), [base("a")], ""),
        ("iceberg", Compact(), [base("a"), DELETES, DELETES], "in 1 data files"),
        ("iceberg", CreateTag(), [], NO_COMMIT),
        ("iceberg", RenameColumn("a", "b"), [base("a"), DELETES], ""),
    ],
)
def test_a_service_that_left_no_trace_is_missed_where_there_was_something_to_do(
    tmp_path: Path, name: str, operation: Operation, files: list[FileFact], missing: str
) -> None:
    problem = formats.load(name).missing_effect(tmp_path, operation, files)
    assert missing in problem
    assert bool(problem) is bool(missing)


def test_a_checkpoint_that_is_there_by_itself_is_none_that_is_missed(tmp_path: Path) -> None:
    delta, table = formats.load("delta"), DeltaFolder(tmp_path)
    table.commit({"metaData": {"id": "t", "configuration": {}}})
    assert delta.missing_effect(tmp_path, Checkpoint(), ()) == "version 0 has no checkpoint"
    table.checkpoint(f"{0:020}.checkpoint.parquet")
    assert delta.missing_effect(tmp_path, Checkpoint(), ()) == ""
    table.commit({"commitInfo": {"operation": "WRITE"}})
    assert delta.missing_effect(tmp_path, Checkpoint(), ()) == "version 1 has no checkpoint"


def test_an_archiving_is_missed_where_there_are_many_commits(tmp_path: Path) -> None:
    hudi, table = formats.load("hudi-cow"), hudi_timeline(tmp_path, "1.commit 2.commit", ".hoodie")
    assert hudi.missing_effect(table, Archive(), ()) == ""
    for instant in "345":
        (table / ".hoodie" / f"{instant}.commit").touch()
    why = "no commit was archived, but 2 are too many"
    assert hudi.missing_effect(table, Archive(), ()) == why


@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        ("hudi-mor", {}, "there is no table in the folder"),
        ("iceberg", {}, "the writer made no metadata file"),
        ("iceberg", {"created_by": "snapshot"}, ""),  # it begins as a plain one
        ("delta", {}, "the writer made no log"),
    ],
)
def test_a_table_that_is_not_where_it_was_to_be_is_missed(
    tmp_path: Path, name: str, settings: dict[str, str], problem: str
) -> None:
    reported = formats.load(name).creation_problem(tmp_path, settings)
    assert problem in reported
    assert bool(reported) is bool(problem)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, ""),
        ({"table_version": "6", "encoded_partitions": "off"}, ""),
        ({"table_version": "8"}, "version 8 was asked for, the writer made version 6"),
        ({"encoded_partitions": "on"}, "urlencode=true was asked for"),
    ],
)
def test_a_hudi_table_made_otherwise_than_asked_for_is_a_problem(
    tmp_path: Path, settings: dict[str, str], problem: str
) -> None:
    properties = hudi_timeline(tmp_path, "hoodie.properties", ".hoodie") / ".hoodie"
    text = "hoodie.table.version=6\nhoodie.datasource.write.partitionpath.urlencode=false\n"
    (properties / "hoodie.properties").write_text(text)
    assert problem in formats.load("hudi-cow").creation_problem(tmp_path, settings)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"column_mapping": "name"}, ""),
        ({"deletion_vectors": "on"}, "Deletion"),
        ({"type_widening": "on"}, "Widening"),
    ],
)
def test_a_delta_table_made_otherwise_than_asked_for_is_a_problem(
    settings: dict[str, str], problem: str
) -> None:
    assert problem in formats.load("delta").creation_problem(DELTA, settings)


def test_an_iceberg_table_made_otherwise_than_asked_for_is_a_problem(tmp_path: Path) -> None:
    iceberg, folder = formats.load("iceberg"), IcebergFolder(tmp_path)
    asked = {"delete_mode": "merge-on-read"}
    made = {"engine.hive.enabled": "true", **dict.fromkeys(MODES, "merge-on-read")}
    folder.metadata(0, properties=made)
    assert iceberg.creation_problem(tmp_path, asked) == ""
    assert iceberg.creation_problem(tmp_path, {}).endswith(", ".join(MODES))
    folder.metadata(1, **{"properties": made, "format-version": 3})
    assert "the writer made version 3" in iceberg.creation_problem(tmp_path, asked)
