from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from harness import formats
from harness.formats.api import FileFactError
from harness.formats.hive_acid import format as hive_acid
from harness.model.file_facts import FileKind
from harness.runtime.metastore_objects import WriteIds
from harness.scenario.load import loads
from harness.scenario.statements import ABORT, COMMIT, Mutation, recorded

BUCKET = 536870912
ROW_ID = [("originalTransaction", pa.int64()), ("bucket", pa.int32()), ("rowId", pa.int64())]
ROW = pa.struct([("id", pa.string()), ("f", pa.string())])
SCHEMA = pa.schema([("operation", pa.int32()), *ROW_ID, ("row", ROW)])

Written = tuple[int, int, str | None]


def write(folder: Path, rows: Sequence[Written]) -> None:
    folder.mkdir(parents=True)
    story = [
        {
            "operation": 2 if key is None else 0,
            "originalTransaction": number,
            "bucket": BUCKET,
            "rowId": row_id,
            "row": None if key is None else {"id": key, "f": f"f{number}.{row_id}"},
        }
        for number, row_id, key in rows
    ]
    orc.write_table(pa.Table.from_pylist(story, SCHEMA), folder / "bucket_00000")
    (folder / "_orc_acid_version").write_text("2")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write(tmp_path / "delta_0000001_0000001_0000", [(1, 0, "a"), (1, 1, "b")])
    write(tmp_path / "delete_delta_0000002_0000002_0000", [(1, 1, None)])
    write(tmp_path / "delta_0000002_0000002_0000", [(2, 0, "b")])
    write(tmp_path / "delta_0000003_0000003_0000", [(3, 0, "c")])
    return tmp_path


IDS = WriteIds(3, aborted=(3,))
FIRST = "delta_0000001_0000001_0000/bucket_00000"


def test_a_deletion_is_of_the_file_that_holds_the_row(table: Path) -> None:
    facts = hive_acid.facts(table, "id", IDS)
    bases = {fact.path: fact.keys for fact in facts if fact.kind is FileKind.BASE}
    assert bases == {FIRST: ("a", "b"), "delta_0000002_0000002_0000/bucket_00000": ("b",)}
    (gone,) = [fact for fact in facts if fact.kind is FileKind.LOG]
    assert (gone.file_group, gone.deleted, gone.instant) == (FIRST, ("b",), "2")


def test_what_an_aborted_transaction_wrote_counts_as_nothing(table: Path) -> None:
    assert hive_acid.instants(table, IDS) == ("1", "2")
    assert "c" in {key for fact in hive_acid.facts(table, "id", WriteIds(3)) for key in fact.keys}


def test_folders_from_which_files_were_moved_are_of_no_write(table: Path) -> None:
    before = hive_acid.folders(table)
    left = (
        table / ".hive-staging_hive_1-2" / "-ext-10000" / "000000_0" / "delta_0000003_0000003_0000"
    )
    left.mkdir(parents=True)
    assert hive_acid.folders(table) == before
    hidden = table / ".hive-staging_hive_1-2"
    assert len(hive_acid.folders(hidden)) == 1, "a table's own path may have a hidden part"


def test_a_number_that_left_nothing_is_of_no_write(table: Path) -> None:
    assert hive_acid.instants(table, WriteIds(4, aborted=(3,))) == ("1", "2")


def test_a_compaction_takes_the_place_of_what_it_joined_and_has_a_name_of_its_own(
    table: Path,
) -> None:
    base = table / "base_0000002"
    write(base, [(1, 0, "a"), (2, 0, "b")])
    (base / "_metadata_acid").write_text('{"thisFileVersion":"0","dataFormat":"compacted"}')
    (fact,) = hive_acid.facts(table, "id", IDS)
    assert (fact.keys, fact.instant) == (("a", "b"), "base_0000002")
    assert hive_acid.instants(table, IDS) == ("1", "2", "base_0000002")


def test_a_base_that_is_named_by_a_transaction_is_of_a_compaction(table: Path) -> None:
    write(table / "base_0000002_v0000017", [(1, 0, "a"), (2, 0, "b")])
    assert hive_acid.instants(table, IDS) == ("1", "2", "base_0000002")
    assert hive_acid.joined(table, "base_0000002") == ("1", "2")


@pytest.mark.parametrize("name", ["base_0000002", "delta_0000001_0000002"])
def test_a_compaction_that_was_begun_anew_has_its_rows_once(name: str, table: Path) -> None:
    for transaction in (17, 9):
        write(table / f"{name}_v{transaction:07}", [(1, 0, "a"), (2, 0, "b")])
    (fact,) = hive_acid.facts(table, "id", WriteIds(2))
    assert fact.path == f"{name}_v0000017/bucket_00000"


def test_a_compaction_by_query_names_columns_in_small_letters(table: Path) -> None:
    write(base := table / "base_0000002_v0000017", [(1, 0, "a"), (2, 0, "b")])
    file = base / "bucket_00000"
    stored = orc.read_table(file)
    orc.write_table(stored.rename_columns([*map(str.lower, stored.column_names)]), file)
    (fact,) = hive_acid.facts(table, "id", IDS)
    assert fact.keys == ("a", "b")


JOINED = "delta_0000001_0000005/bucket_00000"
Story = list[tuple[FileKind, tuple[str, ...], tuple[str, ...]]]


def joined(table: Path, rows: Sequence[Written], deleted: Sequence[tuple[int, int]]) -> Story:
    write(table / "delta_0000001_0000005", rows)
    write(table / "delete_delta_0000001_0000005", [(*row_id, None) for row_id in deleted])
    facts = hive_acid.facts(table, "id", WriteIds(6))
    return [(fact.kind, fact.keys, fact.deleted) for fact in facts]


def test_versions_that_a_minor_compaction_knew_to_be_replaced_do_not_count(table: Path) -> None:
    rows: list[Written] = [(1, 0, "a"), (1, 1, "b"), (2, 0, "b"), (4, 0, "b"), (4, 1, "c")]
    assert joined(table, rows, [(1, 1), (2, 0)]) == [(FileKind.BASE, ("a", "b", "c"), ())]
    (fact,) = hive_acid.facts(table, "id", WriteIds(6))
    story = hive_acid.file_rows(table / JOINED, fact)
    assert story == (("id", "f"), (("a", "f1.0"), ("b", "f4.0"), ("c", "f4.1")))


def test_a_write_after_the_compaction_deletes_the_version_of_the_joined_file(table: Path) -> None:
    write(table / "delete_delta_0000006_0000006_0000", [(2, 0, None)])
    write(table / "delta_0000006_0000006_0000", [(6, 0, "b")])
    actual = joined(table, [(1, 0, "a"), (1, 1, "b"), (2, 0, "b")], [(1, 1)])
    assert actual == [
        (FileKind.BASE, ("a", "b"), ()),
        (FileKind.BASE, ("b",), ()),
        (FileKind.LOG, (), ("b",)),
    ]


def test_a_place_is_of_a_row_of_its_own_partition(tmp_path: Path) -> None:
    for name, key in (("p=0", "a"), ("p=1", "b")):
        write(tmp_path / name / "delta_0000001_0000001_0000", [(1, 0, key), (1, 1, f"{key}2")])
    write(tmp_path / "p=0" / "delete_delta_0000002_0000002_0000", [(1, 0, None)])
    (gone,) = (f for f in hive_acid.facts(tmp_path, "id", WriteIds(2)) if f.deleted)
    assert (gone.file_group, gone.deleted) == (f"p=0/{FIRST}", ("a",))
    write(tmp_path / "p=1" / "delta_0000001_0000002", [(1, 0, "b"), (1, 1, "b2")])
    facts = hive_acid.facts(tmp_path, "id", WriteIds(2))
    assert {fact.keys for fact in facts} == {("a", "a2"), ("b", "b2"), ()}


def test_two_versions_that_nothing_deletes_are_both_there(table: Path) -> None:
    actual = joined(table, [(1, 0, "a"), (2, 0, "a"), (3, 0, "a")], [(1, 0)])
    assert actual == [(FileKind.BASE, ("a", "a"), ())]
    (fact,) = hive_acid.facts(table, "id", WriteIds(6))
    _, rows = hive_acid.file_rows(table / JOINED, fact)
    assert rows == (("a", "f2.0"), ("a", "f3.0"))


def test_rows_of_a_file_are_those_of_the_table(table: Path) -> None:
    (fact,) = [
        f for f in hive_acid.facts(table, "id", IDS) if (f.path, f.keys) == (FIRST, ("a", "b"))
    ]
    names, rows = hive_acid.file_rows(table / FIRST, fact)
    assert (names, rows) == (("id", "f"), (("a", "f1.0"), ("b", "f1.1")))


def test_a_file_without_the_rows_of_a_fact_is_not_understood(table: Path) -> None:
    fact = hive_acid.facts(table, "id", IDS)[0]
    with pytest.raises(FileFactError, match="it does not have the rows x"):
        hive_acid.file_rows(table / FIRST, replace(fact, keys=("x",)))


def test_a_compaction_of_each_partition_found_the_writes_up_to_its_own(tmp_path: Path) -> None:
    for part, last in (("p=a", 2), ("p=b", 3)):
        base = tmp_path / part / f"base_000000{last}"
        write(base, [(last, 0, part)])
        (base / "_metadata_acid").write_text("{}")
    assert hive_acid.joined(tmp_path, "base_0000002") == ("1", "2")
    assert hive_acid.joined(tmp_path, "base_0000003") == ("1", "2", "3")
    assert hive_acid.joined(tmp_path, "3") == ()


SCENARIO = """
formats: [hive-acid]
table:
  columns: {columns}
  key: id
  order_by: ts
{more}
steps:
  - insert: [1, 2]
  - {step}
"""
PLAIN = "{id: string, ts: long, f1: string}"
ACID = formats.load("hive-acid")


def batch(step: str, columns: str = PLAIN, more: str = "") -> Mutation:
    text = SCENARIO.replace("{columns}", columns).replace("{more}", more).replace("{step}", step)
    scenario = loads(text, "x/y.yaml")
    before, after = scenario.truths(merge_on_read=False).history()[1:3]
    (statement,) = ACID.wording(scenario.steps[1].operation, before, after, {})
    assert isinstance(statement, Mutation)
    return statement


def row(statement: Mutation, at: int = 0) -> Mapping[str, object]:
    actual = statement.rows[at]["row"]
    assert isinstance(actual, dict)
    return actual


def test_a_batch_has_whole_rows_and_of_a_row_that_goes_the_key_alone() -> None:
    actual = batch("mutate: {update: [1], insert: [3], delete: [2]}")
    assert [mapping["do"] for mapping in actual.rows] == ["update", "insert", "delete"]
    assert row(actual) == {"id": "1", "ts": 202001, "f1": "f3s2r1"}
    assert row(actual, 2) == {"id": "2"}
    assert actual.columns == (("id", "string"), ("ts", "bigint"), ("f1", "string"))
    assert (actual.key, actual.ends) == ("id", COMMIT)


def test_a_write_that_fails_sends_all_its_rows_and_aborts() -> None:
    actual = batch("failed_write: [1, 3]")
    assert [mapping["do"] for mapping in actual.rows] == ["update", "insert"]
    assert actual.ends == ABORT


def test_a_partition_is_named_by_text_and_is_no_column_of_a_row() -> None:
    columns = "{id: string, ts: long, p: int, f1: string}"
    actual = batch("mutate: {update: [1], delete: [2]}", columns, "  partition_by: [p]")
    assert [mapping["partition"] for mapping in actual.rows] == [["1"], ["0"]]
    assert "p" not in row(actual)
    assert "p" not in dict(actual.columns)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("binary", "663373327233"),
        ("boolean", True),
        ("decimal(10, 2)", "302003.25"),
        ("date", "2304-01-14"),
        ("timestamp", "2001-01-04 11:53:23.250000"),
        ("double", 302003.5),
        ("array<int>", [402003, 402503]),
        ("map<string, int>", {"f4s2r3": 502003}),
        ("struct<a: int, b: string>", {"a": 402003, "b": "f5s2r3"}),
    ],
)
def test_every_type_has_the_form_that_hive_reads_from_json(kind: str, value: object) -> None:
    actual = batch("mutate: {insert: [3]}", f'{{id: string, ts: long, f: "{kind}"}}')
    assert row(actual)["f"] == value


def test_a_batch_is_recorded_with_its_rows_and_its_end() -> None:
    assert recorded(batch("failed_write: [3]")) == (
        'Mutation API, then abort: {"columns": {"id": "string", "ts": "bigint", "f1": "string"}, '
        '"rows": [{"do": "insert", "partition": [], '
        '"row": {"id": "3", "ts": 202003, "f1": "f3s2r3"}}]}'
    )
