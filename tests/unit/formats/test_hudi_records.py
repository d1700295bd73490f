import json
from io import BytesIO
from pathlib import Path

import fastavro
import pytest

from harness.formats.api import FileFactError
from harness.formats.hudi import records, timeline
from harness.model.schema_history import SchemaHistory, SchemaVersion

TIMELINES = Path(__file__).parent / "timelines"
REAL = (
    # Of a real table of Hudi 1.2.0: an insert, a schema change, a compaction that is under way.
    "20261121175009578.deltacommit.requested",
    "20261121175009578.deltacommit.inflight",
    "20261121175009578_20261121175013681.deltacommit",
    "20261121175018393_20261121175018514.deltacommit",
    "20261121175028752.compaction.requested",
    "20261121175028752.compaction.inflight",
    "history",
)


@pytest.mark.parametrize(
    ("names", "completed"),
    [
        (["100.commit.requested", "100.inflight", "200.deltacommit.inflight"], []),
        (["100.deltacommit", "200.clean", "400.savepoint", "500.replacecommit"], ["100", "500"]),
        (["100_900.commit", "200_300.deltacommit"], ["200", "100"]),
        (["hoodie.properties", ".hoodie.properties.crc", "archived", "100.commit.crc"], []),
        (REAL, ["20261121175009578", "20261121175018393"]),
    ],
)
def test_writes_count_once_they_are_completed_in_the_order_of_their_completion(
    names: list[str], completed: list[str]
) -> None:
    entries = timeline.entries(names)
    assert [entry.requested for entry in timeline.completed(entries)] == completed


@pytest.mark.parametrize(
    ("names", "waiting"),
    [
        (["100.compaction.requested", "100.compaction.inflight", "200.clean.requested"], ("100",)),
        (["100.compaction.requested", "100.compaction.inflight", "100.commit"], ()),
        (["100.replacecommit.requested", "100.replacecommit.inflight"], ("100",)),
        (["100.clustering.requested"], ("100",)),
        (["100.clustering.requested", "100_300.replacecommit"], ()),
    ],
)
def test_a_service_waits_until_it_is_completed_in_either_layout(
    names: list[str], waiting: tuple[str, ...]
) -> None:
    assert timeline.scheduled(timeline.entries(names)) == waiting


def test_a_write_that_was_begun_is_inflight_once_it_writes() -> None:
    entries = timeline.entries(["1.commit.requested", "2.deltacommit.inflight", "3.inflight"])
    assert timeline.begun(entries) == ("1", "2", "3")
    assert timeline.begun(entries, timeline.INFLIGHT) == ("2", "3")


def test_both_layouts_are_found_in_their_folders(tmp_path: Path) -> None:
    assert records.local(tmp_path / "absent").entries == ()
    # A table that went back to layout 1 keeps the folder.
    (tmp_path / ".hoodie" / "timeline" / "history").mkdir(parents=True)
    (tmp_path / ".hoodie" / "100.commit").touch()
    assert [*records.local(tmp_path).writes] == ["100"]
    (tmp_path / ".hoodie" / "timeline" / "200_300.commit").touch()
    (write,) = records.local(tmp_path).writes.values()
    assert write.path == ".hoodie/timeline/200_300.commit"


def test_of_too_many_folders_not_all_files_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.formats.files.table_folder.MOST_FOLDERS", 1)
    (tmp_path / "p=a").mkdir()
    assert records.local(tmp_path).slices(()).why == "it has more than 1 folders"


@pytest.mark.parametrize(
    ("table", "groups"),
    [("clustered_0.15.0", {"70ac19dd", "901ca801"}), ("clustered_1.0.2", {"247e6cc7", "3195795b"})],
)
def test_a_completed_replacement_names_the_file_groups_in_either_layout(
    table: str, groups: set[str]
) -> None:
    hudi = records.local(TIMELINES / table)
    (entry,) = hudi.replacements()
    replaced = timeline.replaced_groups(hudi.record(entry), entry.path)
    assert {group.partition("-")[0] for group in replaced} == groups


@pytest.mark.parametrize("data", [b"", b'{"partitionToReplaceFileIds": null}'])
def test_a_record_that_names_no_file_groups_replaced_none(data: bytes) -> None:
    assert timeline.replaced_groups(data, "") == frozenset()


@pytest.mark.parametrize("data", [b"no record", b"[]", b"Obj\x01"])
def test_a_record_that_cannot_be_understood_is_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(FileFactError, match=r"^100\.replacecommit cannot be understood"):
        timeline.replaced_groups(data, "100.replacecommit")
    assert timeline.extra_metadata(data) == {}


VERSIONS = (
    ("0", {5: "id", 7: "f1", 8: "f2"}),
    ("20260101000000001", {5: "id", 7: "f1"}),
    ("20260101000000002", {5: "id", 7: "g"}),
    ("20260101000000003", {5: "id", 8: "f3", 7: "g"}),
)
NESTED = """{"schemas":[{"max_column_id":13,"version_id":20261126183356092,"type":"record",
"fields":[
{"id":0,"name":"_hoodie_commit_time","optional":true,"type":"string","doc":""},
{"id":5,"name":"id","optional":true,"type":"string"},
{"id":7,"name":"s","optional":true,"type":{"type":"record","fields":[
{"id":8,"name":"x","optional":true,"type":"int"},
{"id":9,"name":"y","optional":true,"type":"decimal_fixed(10, 2)[5]"}]}},
{"id":6,"name":"m","optional":true,"type":{"type":"map","key_id":10,"key":"string","value_id":11,
"value":{"type":"array","element_id":12,"element":"uuid","element_optional":true},
"value_optional":true}}]}]}"""


def version(names: dict[int, str], at: str) -> dict[str, object]:
    fields = [
        {"id": n, "name": name, "optional": True, "type": "string"} for n, name in names.items()
    ]
    return {"max_column_id": 8, "version_id": int(at), "type": "record", "fields": fields}


def written(folder: Path, instant: str, versions: int, *, completed: bool = True) -> None:
    requested, _, _ = instant.partition("_")
    (folder / ".hoodie" / ".schema").mkdir(parents=True, exist_ok=True)
    actual = [version(names, at) for at, names in reversed(VERSIONS[:versions])]
    text = json.dumps({"schemas": actual})
    (folder / ".hoodie" / ".schema" / f"{instant}.schemacommit").write_text(text)
    if completed:
        home = folder / ".hoodie" if instant == requested else folder / ".hoodie" / "timeline"
        home.mkdir(exist_ok=True)
        (home / f"{instant}.commit").touch()


def committed(folder: Path, instant: str, at: int) -> None:
    name, names = VERSIONS[at]
    shown = {"extraMetadata": {"latest_schema": json.dumps(version(names, name))}}
    if "_" not in instant:
        (folder / ".hoodie" / f"{instant}.commit").write_text(json.dumps(shown))
        return
    extra = {"name": "extraMetadata", "type": ["null", {"type": "map", "values": "string"}]}
    data = BytesIO()
    fastavro.writer(data, {"type": "record", "name": "Commit", "fields": [extra]}, [shown])
    (folder / ".hoodie" / "timeline" / f"{instant}.commit").write_bytes(data.getvalue())


def read(folder: Path) -> SchemaHistory:
    actual = records.read_history(records.local(folder))
    assert actual is not None
    return actual


LAYOUTS = pytest.mark.parametrize(
    "instant", ["20260101000000003", "20260101000000003_20260101000000004"]
)


@LAYOUTS
def test_an_id_that_was_given_again_has_the_name_of_the_dropped_column(
    tmp_path: Path, instant: str
) -> None:
    written(tmp_path, instant, 4)
    actual = read(tmp_path)
    assert [version.instant for version in actual.versions] == [at for at, _ in VERSIONS]
    assert set(actual.former_names) == {("g", "f1"), ("f3", "f2")}
    assert (actual.lost, actual.latest) == ((), None)


def test_what_was_not_committed_counts_for_nothing(tmp_path: Path) -> None:
    written(tmp_path, "20260101000000002", 3)
    written(tmp_path, "20260101000000003", 4, completed=False)
    assert read(tmp_path).former_names == (("g", "f1"),)


@pytest.mark.parametrize("text", ["", "{}", "[", '{"schemas": []}', '{"schemas": [{}]}'])
def test_without_a_history_nothing_is_reported(tmp_path: Path, text: str) -> None:
    assert records.read_history(records.local(tmp_path)) is None
    written(tmp_path, "1", 1)
    (tmp_path / ".hoodie" / ".schema" / "1.schemacommit").write_text(text)
    assert records.read_history(records.local(tmp_path)) is None


@LAYOUTS
def test_what_a_commit_has_and_the_history_has_not_is_lost(tmp_path: Path, instant: str) -> None:
    written(tmp_path, instant, 2)
    committed(tmp_path, instant, at=3)
    actual = read(tmp_path)
    assert [schema_version.instant for schema_version in actual.lost] == [VERSIONS[3][0]]
    assert actual.latest == actual.lost[0]
    committed(tmp_path, instant, at=1)
    assert (read(tmp_path).lost, read(tmp_path).latest) == ((), None)


def test_a_broken_file_of_the_history_has_lost_what_older_ones_have(tmp_path: Path) -> None:
    written(tmp_path, "20260101000000001", 2)
    written(tmp_path, "20260101000000002", 3)
    (tmp_path / ".hoodie" / ".schema" / "20260101000000002.schemacommit").write_text("")
    committed(tmp_path, "20260101000000001", at=1)
    actual = read(tmp_path)
    assert (actual.versions, [schema_version.instant for schema_version in actual.lost]) == (
        (),
        [VERSIONS[0][0], VERSIONS[1][0]],
    )


def test_parts_have_ids_and_types_in_our_words_and_hudis_own_columns_are_left_out() -> None:
    assert records.versions(NESTED) == (
        SchemaVersion(
            "20261126183356092",
            13,
            (
                (5, "id", "string"),
                (7, "s", "struct"),
                (8, "s.x", "int"),
                (9, "s.y", "decimal(10, 2)"),
                (6, "m", "map"),
                (10, "m.key", "string"),
                (11, "m.value", "array"),
                (12, "m.value.element", ""),
            ),
        ),
    )
