"""Plans of transactional tables of Hive: which folders and rows count, and which do not."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness.audit import table_rows
from harness.audit.catalog_entry import catalog_entry
from harness.audit.tables import PinnedTable, pinned
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.hive_acid import read_plan
from harness.formats.read_plan import ReadPlan
from harness.model import partition_paths
from harness.model.canonical import Value
from harness.runtime.metastore_objects import WriteIds

BUCKET = 1 << 29
CATALOG = DeclaredColumns((("id", "bigint"), ("s", "string")))
NUMBERS = ("originalTransaction", "rowId", "currentTransaction")
SCHEMA = pa.schema(
    [
        ("operation", pa.int32()),
        *((name, pa.int64()) for name in NUMBERS),
        ("bucket", pa.int32()),
        ("row", pa.struct([("id", pa.int64()), ("s", pa.string())])),
    ]
)
Written = tuple[int, int, int | None]
"""The write that made a row, its number there, and its `id`; None of a deletion."""


def write(folder: Path, number: int, *rows: Written) -> None:
    """Let a write make rows, or delete some of older ones."""
    folder.mkdir(parents=True)
    records = [
        {
            "operation": 2 if id_ is None else 0,
            "originalTransaction": made_by,
            "rowId": row_id,
            "currentTransaction": number,
            "bucket": BUCKET,
            "row": None if id_ is None else {"id": id_, "s": f"s{id_}"},
        }
        for made_by, row_id, id_ in rows
    ]
    orc.write_table(pa.Table.from_pylist(records, SCHEMA), folder / "bucket_00000")
    (folder / "_orc_acid_version").write_text("2")


def planned(folder: Path, ids: WriteIds | None = None) -> ReadPlan:
    return read_plan.plan(table_folder.at(str(folder)), CATALOG, ids)


def ids_of(plan: ReadPlan) -> list[Value]:
    return sorted(row[0] for row in table_rows.read(plan).rows)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write(tmp_path / "delta_0000001_0000001_0000", 1, (1, 0, 1), (1, 1, 2))
    write(tmp_path / "delete_delta_0000002_0000002_0000", 2, (1, 1, None))
    write(tmp_path / "delta_0000002_0000002_0000", 2, (2, 0, 20))
    write(tmp_path / "delta_0000003_0000003_0000", 3, (3, 0, 3))
    return tmp_path


def test_rows_of_committed_writes_count_but_for_those_that_were_deleted(table: Path) -> None:
    plan = planned(table, WriteIds(3))
    assert sorted(table_rows.read(plan).rows) == [(1, "s1"), (3, "s3"), (20, "s20")]
    assert (plan.version, plan.undecided) == ("3", ())


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (WriteIds(3, aborted=(3,)), [1, 20]),
        (WriteIds(3, open=(3,)), [1, 20]),
        (WriteIds(2), [1, 20]),
        (WriteIds(3, aborted=(2,)), [1, 2, 3]),
        (WriteIds(3, open=(1,)), [3, 20]),
    ],
)
def test_what_aborted_open_and_later_writes_made_or_deleted_does_not_count(
    ids: WriteIds, expected: Sequence[int], table: Path
) -> None:
    assert ids_of(planned(table, ids)) == expected


def test_a_compaction_stands_for_what_it_joined(table: Path) -> None:
    base = table / "base_0000002"
    write(base, 2, (1, 0, 1), (2, 0, 20), (2, 1, 99))
    (base / "_metadata_acid").write_text('{"dataFormat":"compacted"}')
    assert ids_of(planned(table, WriteIds(3))) == [1, 3, 20, 99]
    assert ids_of(planned(table, WriteIds(3, open=(2,)))) == [1, 2, 3], "not all of it ended"


def test_an_overwrite_counts_only_if_it_was_committed(table: Path) -> None:
    write(table / "base_0000004", 4, (4, 0, 4))
    assert ids_of(planned(table, WriteIds(4))) == [4]
    assert ids_of(planned(table, WriteIds(4, aborted=(4,)))) == [1, 3, 20]


def test_a_minor_compaction_stands_for_its_writes_and_their_deletions(table: Path) -> None:
    write(table / "delta_0000001_0000002", 1, (1, 0, 1), (1, 1, 2), (2, 0, 20))
    write(table / "delete_delta_0000001_0000002", 2, (1, 1, None))
    plan = planned(table, WriteIds(3))
    assert ids_of(plan) == [1, 3, 20]
    assert [file.path for file in plan.files] == [
        "delta_0000001_0000002/bucket_00000",
        "delta_0000003_0000003_0000/bucket_00000",
    ]


def test_a_base_that_is_named_by_a_transaction_is_no_overwrite(table: Path) -> None:
    write(table / "base_0000004_v0000017", 3, (3, 0, 5))
    ids = WriteIds(4, aborted=(4,))
    assert ids_of(planned(table, ids)) == [5], "it joined what was committed until then"


@pytest.mark.parametrize("name", ["base_0000003", "delta_0000001_0000003"])
def test_rows_of_a_compaction_that_was_begun_anew_count_once(name: str, table: Path) -> None:
    for transaction in (17, 9):
        write(table / f"{name}_v{transaction:07}", 3, (1, 0, 1), (3, 0, 3))
    plan = planned(table, WriteIds(3))
    assert ids_of(plan) == [1, 3]
    assert [file.path for file in plan.files] == [f"{name}_v0000017/bucket_00000"]


def test_columns_of_a_compaction_by_query_are_known_in_small_letters(table: Path) -> None:
    write(folder := table / "delete_delta_0000001_0000003_v0000017", 3, (1, 1, None), (3, 0, None))
    write(rows := table / "delta_0000001_0000003_v0000017", 3, (1, 0, 1), (1, 1, 2), (3, 0, 3))
    for file in (folder / "bucket_00000", rows / "bucket_00000"):
        stored = orc.read_table(file)
        orc.write_table(stored.rename_columns([*map(str.lower, stored.column_names)]), file)
    assert ids_of(planned(table, WriteIds(3))) == [1]


def test_all_statements_of_a_write_count(table: Path) -> None:
    write(table / "delta_0000003_0000003_0001", 3, (3, 1, 31))
    assert ids_of(planned(table, WriteIds(3))) == [1, 3, 20, 31]


def test_a_row_of_a_compaction_whose_write_was_aborted_does_not_count(tmp_path: Path) -> None:
    write(tmp_path / "delta_0000001_0000002", 2, (1, 0, 1))
    assert ids_of(planned(tmp_path, WriteIds(2, aborted=(2,)))) == []


def test_files_from_before_the_table_was_transactional_have_ids_by_their_order(
    tmp_path: Path,
) -> None:
    for at, name in enumerate(("000000_0", "000000_0_copy_1")):
        rows = pa.table({"id": [at * 10, at * 10 + 1], "s": ["x", "y"]})
        orc.write_table(rows, tmp_path / name)
    write(tmp_path / "delete_delta_0000001_0000001_0000", 1, (0, 2, None))
    write(tmp_path / "delta_0000001_0000001_0000", 1, (1, 0, 7))
    assert ids_of(planned(tmp_path, WriteIds(1))) == [0, 1, 7, 11]
    write(tmp_path / "base_0000001", 1, (1, 0, 5))
    assert ids_of(planned(tmp_path, WriteIds(1))) == [5]


def test_partitions_have_writes_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "p=a" / "delta_0000001_0000001_0000", 1, (1, 0, 1))
    write(tmp_path / "p=b" / "delta_0000001_0000001_0000", 1, (1, 0, 2))
    write(tmp_path / "p=b" / "delete_delta_0000002_0000002_0000", 2, (1, 0, None))
    (table,) = pinned(str(tmp_path), ())
    assert isinstance(table, PinnedTable)
    plan = table.plan()
    assert table_rows.read(plan).rows == ((1, "s1", "a"),)
    entry = catalog_entry(table, plan)
    assert entry.table["parameters"] == {"transactional": "true"}
    assert entry.write_ids == WriteIds(2)
    folders = [part["sd"]["location"] for part in entry.partitions]
    assert folders == [f"file:{tmp_path}/p=a", f"file:{tmp_path}/p=b"]


def test_without_a_metastore_nobody_knows_which_writes_were_committed(table: Path) -> None:
    (sentence,) = planned(table).undecided
    assert sentence == "only a metastore knows whether the writes 1 to 3 were committed"
    base = table / "base_0000003"
    write(base, 3, (3, 0, 3))
    (base / "_metadata_acid").write_text("{}")
    assert planned(table).undecided == ()


def test_a_table_that_takes_inserts_only_has_plain_files(tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / f"delta_000000{number}_000000{number}_0000"
        folder.mkdir()
        pq.write_table(pa.table({"id": [number], "s": ["x"]}), folder / "000000_0")
    assert ids_of(planned(tmp_path, WriteIds(2, aborted=(1,)))) == [2]


def _updates(folder: Path) -> None:
    write(folder / "delta_0000001_0000001_0000", 1, (1, 0, None), (1, 1, 1))


def _other_columns(folder: Path) -> None:
    write(folder / "delta_0000001_0000001_0000", 1, (1, 0, 1))
    (folder / "delta_0000002_0000002_0000").mkdir()
    rows = pa.table({"id": [1]})
    orc.write_table(rows, folder / "delta_0000002_0000002_0000" / "bucket_00000")


@pytest.mark.parametrize(
    ("make", "why"),
    [(_updates, "Hive before version 3"), (_other_columns, "it has no column operation")],
)
def test_what_cannot_be_understood_is_refused(
    make: Callable[[Path], None], why: str, tmp_path: Path
) -> None:
    make(tmp_path)
    with pytest.raises(FileFactError, match=why):
        planned(tmp_path, WriteIds(2))


def everything(folder: Path) -> tuple[WriteIds, list[tuple[Value, ...]]]:
    """Write a table with all that decides which rows count; return those that do."""
    part = folder / "p=a"
    write(part / "delta_0000001_0000001_0000", 1, (1, 0, 1), (1, 1, 2))
    write(part / "base_0000002", 2, (1, 0, 1), (2, 0, 20), (2, 1, 21))
    (part / "base_0000002" / "_metadata_acid").write_text("{}")
    write(part / "delta_0000003_0000003_0000", 3, (3, 0, 3))
    write(part / "delete_delta_0000003_0000003_0000", 3, (2, 0, None))
    write(part / "delta_0000004_0000004_0000", 4, (4, 0, 4))
    write(part / "delta_0000005_0000006", 6, (5, 0, 5), (6, 0, 6))
    write(part / "delta_0000005_0000005_0000", 5, (5, 0, 5))
    write(part / "delta_0000006_0000006_0000", 6, (6, 0, 6))
    write(part / "delete_delta_0000007_0000007_0000", 7, (3, 0, None))
    other = folder / "p=b"
    write(other / "delete_delta_0000003_0000003_0000", 3, (0, 1, None))
    orc.write_table(pa.table({"id": [100, 101], "s": ["x", "y"]}), other / "000000_0")
    write(other / "delta_0000002_0000002_0000", 2, (2, 0, 200))
    rows = [(1, "a"), (3, "a"), (5, "a"), (6, "a"), (21, "a"), (100, "b"), (200, "b")]
    return WriteIds(7, aborted=(4,), open=(7,)), [*rows]


def shown(folder: Path, ids: WriteIds) -> list[tuple[Value, ...]]:
    catalog = replace(CATALOG, partition_by=(("p", "string"),))
    plan = read_plan.plan(table_folder.at(str(folder)), catalog, ids)
    return sorted(((row[0], row[2]) for row in table_rows.read(plan).rows), key=repr)


Plant = Callable[[pytest.MonkeyPatch], None]
PART = read_plan._Partition
PLANTED: dict[str, Plant] = {
    "all writes count": lambda p: p.setattr(PART, "committed", lambda *_: True),
    "no base": lambda p: p.setattr(PART, "base", None),
    "compactions and what they joined": lambda p: p.setattr(
        PART, "live", property(lambda self: self.writes)
    ),
    "no deletes": lambda p: p.setattr(
        PART, "deleted", lambda self: dict.fromkeys([file.path for file in self.rows], ())
    ),
    "files of before have no ids": lambda p: p.setattr(read_plan, "_VERSION_1", 0),
    "files of before do not count": lambda p: p.setattr(PART, "originals", []),
    "partitions together": lambda p: p.setattr(
        partition_paths, "folder_of", lambda path: path.partition("/p=")[0]
    ),
}


def test_a_table_with_all_that_decides_has_the_rows_that_count(tmp_path: Path) -> None:
    ids, rows = everything(tmp_path)
    assert shown(tmp_path, ids) == sorted(rows, key=repr)


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_error_shows_other_rows(
    plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, rows = everything(tmp_path)
    PLANTED[plant](monkeypatch)
    try:
        wrong = shown(tmp_path, ids)
    except FileFactError:
        return  # noticed as well
    assert wrong != sorted(rows, key=repr)
