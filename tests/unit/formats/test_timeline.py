from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats.hudi import timeline


def requested(*names: str) -> list[str]:
    return [instant.requested for instant in timeline.completed(names)]


def test_an_instant_counts_once_it_is_completed() -> None:
    assert requested("100.commit.requested", "100.inflight", "200.deltacommit.inflight") == []
    assert requested("100.commit.requested", "100.inflight", "100.commit") == ["100"]


def test_only_actions_that_change_rows_or_schema_count() -> None:
    names = ("100.deltacommit", "200.clean", "300.rollback", "400.savepoint", "500.replacecommit")
    assert requested(*names) == ["100", "500"]


def test_layout_2_is_ordered_by_completion() -> None:
    assert requested("100_900.commit", "200_300.deltacommit") == ["200", "100"]


def test_layout_1_is_ordered_by_request() -> None:
    assert requested("300.commit", "100.deltacommit", "200.commit") == ["100", "200", "300"]


def test_other_files_of_the_folder_are_no_instants() -> None:
    assert (
        requested("hoodie.properties", ".hoodie.properties.crc", "archived", "100.commit.crc") == []
    )


def test_the_timeline_of_table_version_9_is_read_as_that_of_8() -> None:
    # Of a real table of Hudi 1.2.0: an insert, a schema change, a compaction that is under way.
    names = (
        "20261121175009578.deltacommit.requested",
        "20261121175009578.deltacommit.inflight",
        "20261121175009578_20261121175013681.deltacommit",
        "20261121175018393_20261121175018514.deltacommit",
        "20261121175028752.compaction.requested",
        "20261121175028752.compaction.inflight",
        "history",
    )
    assert requested(*names) == ["20261121175009578", "20261121175018393"]
    done = "20261121175028752_20261121175030974.commit"
    assert requested(*names, done)[-1] == "20261121175028752"


def test_a_compaction_waits_until_it_is_completed_in_either_layout() -> None:
    asked = ("100.compaction.requested", "100.compaction.inflight", "200.clean.requested")
    assert timeline.scheduled(asked) == ("100",)
    assert timeline.scheduled((*asked, "100.commit")) == ()
    assert timeline.scheduled((*asked, "100_300.commit")) == ()


def test_a_clustering_waits_under_the_name_that_its_layout_has_for_it() -> None:
    assert timeline.scheduled(("100.replacecommit.requested", "100.replacecommit.inflight")) == (
        "100",
    )
    assert timeline.scheduled(("100.clustering.requested",)) == ("100",)
    assert timeline.scheduled(("100.replacecommit.requested", "100.replacecommit")) == ()
    assert timeline.scheduled(("100.clustering.requested", "100_300.replacecommit")) == ()


def test_both_layouts_are_found_in_their_folders(tmp_path: Path) -> None:
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "100.commit").touch()
    assert timeline.names(tmp_path) == ("100.commit",)
    (tmp_path / ".hoodie" / "timeline").mkdir()
    (tmp_path / ".hoodie" / "timeline" / "200_300.commit").touch()
    assert timeline.names(tmp_path) == ("200_300.commit",)


def test_a_table_that_went_back_to_layout_1_is_found_there(tmp_path: Path) -> None:
    (tmp_path / ".hoodie" / "timeline" / "history").mkdir(parents=True)
    (tmp_path / ".hoodie" / "100.commit").touch()
    assert timeline.names(tmp_path) == ("100.commit",)


def test_a_folder_that_is_no_hudi_table_has_no_timeline(tmp_path: Path) -> None:
    assert timeline.names(tmp_path / "absent") == ()


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["1.commit.requested", "1.inflight", "1.commit"], ["1 commit: completed"]),
        (["1.deltacommit.requested"], ["1 deltacommit: requested"]),
        (
            ["2.rollback.inflight", "1_3.commit"],
            ["1 commit: completed at 3", "2 rollback: inflight"],
        ),
        (["5.compaction.inflight", "5_6.commit"], ["5 commit: completed at 6"]),
        (["1.commit", "1.savepoint"], ["1 commit: completed", "1 savepoint: completed"]),
        (["hoodie.properties", "1.commit.crc", ".1.commit.crc"], []),
    ],
)
def test_each_action_is_told_in_its_last_state(names: list[str], told: list[str]) -> None:
    assert [entry.text for entry in timeline.entries(names)] == told


def test_the_file_of_a_write_is_the_one_of_its_completion(tmp_path: Path) -> None:
    first, second = tmp_path / "first" / ".hoodie", tmp_path / "second" / ".hoodie" / "timeline"
    for folder, names in (
        (first, ("200.deltacommit", "100.commit", "100.compaction.requested", "300.inflight")),
        (second, ("100_900.commit", "100.commit.requested", "200_300.deltacommit", "400.clean")),
    ):
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).touch()
    actual = timeline.files(tmp_path / "first")
    assert [*actual.items()] == [("100", first / "100.commit"), ("200", first / "200.deltacommit")]
    assert [*timeline.files(tmp_path / "second").values()] == [
        second / "200_300.deltacommit",
        second / "100_900.commit",
    ]
    assert timeline.files(tmp_path / "none") == {}
