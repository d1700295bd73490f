import datetime
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from harness import formats
from harness.formats.api import FileFactError
from harness.formats.delta import files as delta_files
from harness.formats.delta import log as delta_log
from harness.formats.delta import vectors
from harness.formats.files import table_folder
from harness.model.file_facts import FileFact, FileKind
from harness.model.query import Comparison, Condition
from harness.model.simulation.incremental import COMMIT_TIME
from harness.scenario.operations.row_writes import Insert
from harness.scenario.statements import recorded
from tests.builders.delta_folder import DeltaFolder, add, field, metadata, protocol, remove
from tests.builders.scenarios import scenario_of

FORMAT = formats.load("delta")
TABLES = Path(__file__).parent / "delta_tables"
MARKED, LATER = TABLES / "marked", TABLES / "mapped_later"
MOMENTS = {"id": "string", "at": "timestamp"}
THEN, NOW = ("id", "ts", "f1", "f2", "f3"), ("id", "f2", "ts", "g", "f3")


def bases(folder: Path) -> list[FileFact]:
    return [fact for fact in delta_files.facts(folder, "id") if fact.kind is FileKind.BASE]


def names(fact: FileFact) -> tuple[str, ...]:
    return tuple(name for name, _ in fact.columns)


def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "t"))


def test_a_column_that_a_file_has_by_its_name_alone_is_none_of_a_mapped_table(
    tmp_path: Path,
) -> None:
    folder = DeltaFolder(tmp_path / "t")
    fields = (
        field("id", "string", physical="col-1", number=1),
        field("n", "long", physical="col-2", number=2),
    )
    right = folder.data("1.parquet", {"col-1": ["1"], "col-2": [7]})
    wrong = folder.data("2.parquet", {"id": ["2"], "n": [8]})
    folder.commit(protocol(3, "columnMapping"), metadata(*fields, mode="name"))
    folder.commit(add(right), add(wrong))
    one, other = bases(folder.path)
    assert (names(one), one.keys) == (("id", "n"), ("1",))
    unnamed = ("id (no physical name)", "n (no physical name)")
    assert (names(other), other.keys, other.stored_names) == (unnamed, ("2",), ("id", "n"))
    assert FORMAT.file_rows(folder.path / wrong, other)[0] == unnamed


def mapped_partition(tmp_path: Path, *features: str) -> DeltaFolder:
    folder = DeltaFolder(tmp_path / "t")
    id_, p = (field(name, "long", physical=f"col-{name}", number=1) for name in ("id", "p"))
    data = folder.data("1.parquet", {"id": [1], "col-id": [2]})
    folder.commit(protocol(3, *features), metadata(id_, p, partition=("p",), mode="name"))
    folder.commit(add(data, {"p": "7"}))
    return folder


@pytest.mark.parametrize(
    ("feature", "columns", "row"),
    [
        ("columnMapping", ("id (no physical name)", "id", "p (no physical name)"), (1, 2, "7")),
        ("deletionVectors", ("id", "col-id", "p"), (1, 2, 7)),
    ],
)
def test_columns_are_mapped_where_the_protocol_has_the_feature_whatever_the_mode_is(
    feature: str, columns: tuple[str, ...], row: tuple[object, ...], tmp_path: Path
) -> None:
    folder = mapped_partition(tmp_path, feature)
    (fact,) = bases(folder.path)
    assert FORMAT.file_rows(folder.path / fact.path, fact) == (columns, (row,))


def test_a_folder_without_a_log_holds_no_table(tmp_path: Path) -> None:
    assert delta_log.local(tmp_path).commits == ()
    assert delta_files.facts(tmp_path, "id") == ()
    assert FORMAT.instants(tmp_path) == FORMAT.timeline(tmp_path) == ()


@pytest.mark.parametrize("folder", [MARKED, LATER])
@pytest.mark.parametrize("name", ["left.parquet", "20261127_150336_00441_e88q3_left"])
def test_data_files_that_no_version_names_are_of_a_write_that_was_begun(
    folder: Path, name: str, tmp_path: Path
) -> None:
    table, (one, *_) = copy(folder, tmp_path), bases(folder)
    assert FORMAT.committed(table, ()).begun == ()
    for below in ("p=a%20b", "_change_data"):  # the second has no data files
        (table / below).mkdir()
        for file in (name, f".{name}.crc", "deletion_vector_left.bin"):
            shutil.copy(table / one.path, table / below / file)
    after = FORMAT.committed(table, ())
    assert after.begun == (f"p=a%20b/{name}",)
    assert after == FORMAT.committed(folder, ())  # nothing was committed
    assert bases(table) == bases(folder)


def test_a_file_has_the_names_of_its_own_version_and_its_stored_ones_beside() -> None:
    actual = {base.instant: base for base in bases(MARKED)}
    assert {at: (names(fact), fact.keys) for at, fact in actual.items()} == {
        "2": (THEN, ("3",)),
        "7": (NOW, ("1", "4", "5")),
        "8": (NOW, ("1",)),
    }
    old, new = (dict(zip(names(f), f.stored_names, strict=True)) for f in bases(MARKED)[:2])
    assert all(text.startswith("col-") for text in (*old.values(), *new.values()))
    assert old["f1"] == new["g"]  # the same column, for life
    assert old["f2"] != new["f2"]  # another one of the same name


def test_mapping_that_came_later_keeps_the_names_of_then_in_files() -> None:
    old, new = bases(LATER)
    assert (names(old), old.stored_names) == (THEN, ())
    assert names(new) == NOW
    id_, f2, *others = new.stored_names
    assert (id_, others) == ("id", ["ts", "f1", "f3"])
    assert f2.startswith("col-")


def test_a_deletion_vector_becomes_a_log_with_the_keys_of_the_rows_that_are_gone() -> None:
    (log,) = [fact for fact in delta_files.facts(MARKED, "id") if fact.kind is FileKind.LOG]
    assert (log.instant, log.deleted, log.keys) == ("8", ("1",), ())
    assert log.file_group in {base.file_group for base in bases(MARKED) if base.instant == "7"}


def test_a_remove_without_the_vector_takes_another_file_away_than_the_one_that_has_it(
    tmp_path: Path,
) -> None:
    table = copy(MARKED, tmp_path)
    (fact,) = [fact for fact in delta_files.facts(table, "id") if fact.kind is FileKind.LOG]
    (live,) = [file for file in delta_log.local(table).live() if file.vector]
    before = delta_files.facts(table, "id")
    now = delta_log.local(table).commits[-1].version
    for version, vector in ((now + 1, {}), (now + 2, {"deletionVector": live.vector})):
        assert delta_files.facts(table, "id") == before
        action = {"remove": {"path": fact.path, **vector}}
        (table / "_delta_log" / f"{version:020}.json").write_text(json.dumps(action))
    assert fact.path not in {left.path for left in delta_files.facts(table, "id")}


def test_the_rows_of_a_file_come_under_the_names_of_its_version() -> None:
    fact = next(base for base in bases(MARKED) if base.instant == "8")
    columns, rows = delta_files.file_rows(MARKED / fact.path, fact)
    assert columns == NOW
    assert dict(zip(columns, rows[0], strict=True))["g"] == "f3s8r1"


def test_a_version_that_sets_properties_alone_is_no_write() -> None:
    assert FORMAT.timeline(LATER)[2] == "version 2: SET TBLPROPERTIES"
    assert "2" not in FORMAT.instants(LATER)
    assert FORMAT.committed(LATER, ()).writes == FORMAT.instants(LATER)
    assert FORMAT.instants_before(LATER, "3") == ("0", "1")
    assert [FORMAT.table_version(path) for path in (MARKED, LATER)] == ["3", "2"]


@pytest.mark.parametrize(
    ("version", "text", "why"), [(0, "", "all commits from version 0 on"), (3, "{", r"0003\.json")]
)
def test_a_log_that_lacks_its_first_commit_or_has_a_broken_one_is_not_understood(
    tmp_path: Path, version: int, text: str, why: str
) -> None:
    commit = copy(LATER, tmp_path) / "_delta_log" / f"{version:020}.json"
    commit.unlink()
    if text:
        commit.write_text(text)
    with pytest.raises(FileFactError, match=why):
        FORMAT.facts(tmp_path / "t", "id")


def test_a_vector_with_other_rows_than_it_says_is_not_believed(tmp_path: Path) -> None:
    folder = copy(MARKED, tmp_path)
    (live,) = [file for file in delta_log.local(folder).live() if file.vector]
    assert vectors.deleted(table_folder.at(str(folder)), live.vector or {}) == {0}
    with pytest.raises(FileFactError, match="it has 1 rows, and says 2"):
        vectors.deleted(table_folder.at(str(folder)), {**(live.vector or {}), "cardinality": 2})


KEY = "col-1"
FIELD = {"name": "id", "type": "string", "metadata": {"delta.columnMapping.physicalName": KEY}}
SCHEMA = {"type": "struct", "fields": [FIELD]}
Commits = Sequence[Sequence[tuple[str, str, bool]]]
FILES: Mapping[str, tuple[str, ...]] = {
    "a": ("1", "2", "3"),
    "b": ("4",),
    "a2": ("1", "3"),
    "ab": ("1", "3", "4"),
    "new": ("1",),
}
CHANGES = {
    "c": (("1", "update_preimage"), ("1", "update_postimage"), ("2", "delete")),
    "d": (("5", "insert"),),
}
ADD_ALL = ("add", "a", True), ("add", "b", True)
CHANGED = ("remove", "a", True), ("add", "a2", True), ("cdc", "c", False)
JOINED = ("remove", "a2", False), ("remove", "b", False), ("add", "ab", False)


def table(folder: Path, commits: Commits, *, enabled: str = "true") -> Path:
    (folder / "_delta_log").mkdir(parents=True)
    for name, keys in FILES.items():
        parquet.write_table(pa.table({KEY: list(keys)}), folder / name)
    for name, rows in CHANGES.items():
        columns = zip((KEY, "_change_type"), zip(*rows, strict=True), strict=True)
        parquet.write_table(
            pa.table({column: list(values) for column, values in columns}), folder / name
        )
    properties = {delta_log.CHANGE_FEED: enabled, delta_log.MODE: "name"}
    meta = {"schemaString": json.dumps(SCHEMA), "configuration": properties, "partitionColumns": []}
    lines: list[list[dict[str, object]]] = [[{"metaData": meta}]]
    lines += [
        [{kind: {"path": p, "dataChange": new}} for kind, p, new in commit] for commit in commits
    ]
    for version, actions in enumerate(lines):
        text = "\n".join(map(json.dumps, actions))
        (folder / "_delta_log" / f"{version:020}.json").write_text(text)
    return folder


def last_writes(folder: Path, until: int = 9) -> Mapping[str, int]:
    return delta_files.last_writes(delta_log.local(folder), KEY, until)


FIRST = {"1": 1, "2": 1, "3": 1}
INSERTED = ("cdc", "d", False), ("add", "new", True)
MARKED_ROWS = ("remove", "ab", True), ("add", "ab", True)
OVERWRITE = ("remove", "a", True), ("remove", "b", True), ("add", "new", True)


@pytest.mark.parametrize(
    ("commits", "until", "expected"),
    [
        ([[ADD_ALL[0]], [ADD_ALL[1]]], 9, FIRST | {"4": 2}),
        ([[ADD_ALL[0]], [ADD_ALL[1]]], 1, FIRST),
        # Files of changes tell of a commit, and not what it carries along.
        ([ADD_ALL, CHANGED], 9, {"1": 2, "2": 1, "3": 1, "4": 1}),
        ([ADD_ALL, INSERTED], 9, FIRST | {"4": 1, "5": 2}),
        # Files that were joined, and rows that were marked, are no writes.
        ([ADD_ALL, CHANGED, JOINED, MARKED_ROWS], 9, {"1": 2, "2": 1, "3": 1, "4": 1}),
        ([ADD_ALL, OVERWRITE], 9, FIRST | {"1": 2, "4": 1}),
    ],
)
def test_a_row_was_written_last_by_the_commit_that_changed_it(
    tmp_path: Path, commits: Commits, until: int, expected: Mapping[str, int]
) -> None:
    assert last_writes(table(tmp_path, commits), until) == expected


def test_rows_that_a_vector_no_longer_takes_out_were_written_by_the_commit_that_says_so(
    tmp_path: Path,
) -> None:
    folder = table(tmp_path, [ADD_ALL])
    vector = DeltaFolder(folder).vector("i", 1)
    for version, (gone, there) in ((2, (None, vector)), (3, (vector, None))):
        actions = remove("a", gone), add("a", vector=there)
        text = "\n".join(map(json.dumps, actions))
        (folder / "_delta_log" / f"{version:020}.json").write_text(text)
    assert last_writes(folder, 2) == FIRST | {"4": 1}
    assert last_writes(folder) == FIRST | {"4": 1, "2": 3}


@pytest.mark.parametrize(("enabled", "gone"), [("false", ""), ("true", "a"), ("true", "c")])
def test_nothing_is_known_without_the_changes(tmp_path: Path, enabled: str, gone: str) -> None:
    folder = table(tmp_path, [ADD_ALL, CHANGED], enabled=enabled)
    if gone:
        (folder / gone).unlink()
    assert last_writes(folder) == {}


def committed(folder: Path) -> dict[str, object]:
    actual: dict[str, object] = {}
    for fact in delta_files.facts(folder, "id"):
        columns, rows = delta_files.file_rows(folder / fact.path, fact)
        at = columns.index(COMMIT_TIME) if COMMIT_TIME in columns else None
        shown = (None if at is None else row[at] for row in rows)
        actual |= dict(zip(fact.keys, shown, strict=True))
    return actual


def test_rows_of_a_file_say_when_each_was_written(tmp_path: Path) -> None:
    folder = table(tmp_path, [ADD_ALL, CHANGED, JOINED])
    assert committed(folder) == {"1": "2", "3": "1", "4": "1"}


def test_rows_of_a_file_do_not_say_it_where_one_of_them_is_unknown(tmp_path: Path) -> None:
    unknown = ("add", "ab", False)
    assert committed(table(tmp_path, [[ADD_ALL[0]], [unknown]]))["4"] is None
    assert committed(table(tmp_path / "t", [ADD_ALL], enabled="false"))["4"] is None


def test_bounds_of_moments_in_the_log_are_cut_to_milliseconds_and_have_the_zone_of_their_session(
    tmp_path: Path,
) -> None:
    folder = DeltaFolder(tmp_path / "t")
    path = folder.data("1.parquet", {"id": ["1", "2"]})
    stored = {
        "numRecords": 2,
        "minValues": {"id": "1", "at": "1850-01-01T01:01:01.000+00:53"},
        "maxValues": {"id": "2", "at": "1850-01-01T01:01:02.123+00:53"},
        "nullCount": {"at": 1},
    }
    folder.commit(protocol(1), metadata(field("id", "string"), field("at", "timestamp")))
    folder.commit({"add": {**add(path)["add"], "stats": json.dumps(stored)}})
    (of_at,) = [s for s in FORMAT.statistics(folder.path, ()) if s.column == "at"]
    assert (of_at.source, of_at.path, of_at.rows, of_at.nulls) == ("Delta's log", path, 2, 1)
    last = datetime.datetime(1850, 1, 1, 0, 8, 2, 123999)  # noqa: DTZ001 - as values are
    assert not of_at.contradicted_by([last, last - datetime.timedelta(seconds=1)])
    written = datetime.datetime(1850, 1, 1, 0, 7, 33)  # noqa: DTZ001 - 28 s are cut off
    assert of_at.contradicted_by([written])
    assert of_at.excludes(Condition("at", Comparison.EQUAL, "1850-01-01 00:07:33", "timestamp"))


def test_a_session_in_another_zone_is_told_the_same_moments() -> None:
    scenario = scenario_of(
        Insert(rows=({"id": "1", "at": "1850-01-01 00:07:33"},)), columns=MOMENTS
    )
    before, after = scenario.truths(merge_on_read=False).history()
    texts = [
        recorded(statement)
        for settings in ({}, {"session_zone": "stockholm"})
        for statement in FORMAT.wording(scenario.operations[0], before, after, settings)
    ]
    assert [text.count(" 00:07:33Z' as timestamp)") for text in texts] == [0, 1]
    assert texts[1].replace("33Z'", "33'") == texts[0]
    zone = "spark.sql.session.timeZone"
    assert FORMAT.session({"session_zone": "stockholm"}, {})[zone] == "Europe/Stockholm"
    assert zone not in FORMAT.session({}, {})
