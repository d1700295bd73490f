from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats.api import FileFactError
from harness.formats.hudi import records, timeline

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
