"""Readers that resolve columns or merge files wrongly: each is found under its right name."""

from __future__ import annotations

from dataclasses import replace

from harness.core.records import FindingKind, Origin
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import (
    Story,
    cells,
    changed,
    diagnosed,
    history,
    named,
    witness,
)

README = "insert 1,2; add f3 after f1; touch; drop f2; rename f1 f1_new; touch"


def test_a_reader_by_id_is_right() -> None:
    story = history(README)
    assert diagnosed(story, story.read("id")) == ()


def test_a_rename_missed_by_name_is_told_for_the_rows_written_before_it() -> None:
    story = history(README)
    assert named(story, story.read("name")) == {"missing_rename": cells(story, "f1_new", [1, 2, 3])}


def test_columns_read_by_position_are_misaligned_and_the_witness_says_whose_value_it_is() -> None:
    story = history(README)
    reply = story.read("position")
    assert named(story, reply) == {"misaligned": cells(story, "f3", [1, 2])}
    seen = witness(story, reply, FindingKind.MISALIGNED, "1", "f3")
    assert (seen.expected, seen.found) == (None, "f4s1r1")
    assert seen.origin == Origin(4, "f2", 1, "1")


def test_a_dropped_column_comes_back_under_a_column_added_with_its_name() -> None:
    story = history("insert 1,2; drop f2; add f2; insert 3")
    reply = story.read("name")
    assert named(story, reply) == {"resurrected": cells(story, "f2", [1, 2])}
    seen = witness(story, reply, FindingKind.RESURRECTED, "2", "f2")
    assert seen.origin == Origin(4, "f2", 1, "2")


def test_a_dropped_column_comes_back_under_its_last_name_though_written_under_another() -> None:
    story = history("insert 1,2; rename f2 g; upsert 1; drop g; add g")
    assert named(story, story.read("name")) == {"resurrected": cells(story, "g", [1, 2])}


def test_a_dropped_column_comes_back_under_a_column_renamed_to_its_name() -> None:
    story = history("insert 1,2; drop f1; rename f2 f1")
    assert named(story, story.read("name")) == {"resurrected": cells(story, "f1")}


def test_swapped_same_typed_neighbours_are_misaligned_both_ways() -> None:
    story = history("insert 1..3; move f1 after f2; insert 4")
    assert named(story, story.read("position")) == {"misaligned": cells(story, "f1 f2", [1, 2, 3])}


def test_names_swapped_by_two_renames_are_misaligned_for_a_reader_by_name() -> None:
    story = history("insert 1..3; rename f1 t; rename f2 f1; rename t f2")
    reply = story.read("name")
    assert named(story, reply) == {"misaligned": cells(story, "f1 f2")}
    origin = witness(story, reply, FindingKind.MISALIGNED, "1", "f1").origin
    assert origin == Origin(3, "f1", 1, "1")


def test_a_rename_onto_a_freed_name_is_misaligned_and_the_freed_column_misses_its_rename() -> None:
    story = history("insert 1..3; rename f1 g; rename f2 f1")
    expected = {"misaligned": cells(story, "f1"), "missing_rename": cells(story, "g")}
    assert named(story, story.read("name")) == expected


def test_a_rename_there_and_back_is_missed_in_files_written_between() -> None:
    story = history("insert 1..3; rename f1 g; upsert 1; rename g f1")
    assert named(story, story.read("name")) == {"missing_rename": cells(story, "f1")}


def test_rows_are_told_apart_though_the_key_column_shows_another_column() -> None:
    story = history("insert 1..3; add n long first; insert 4")
    reply = story.read("position")
    assert named(story, reply) == {
        "misaligned": cells(story, "n id ts f1", [1, 2, 3]),
        "lost_value": cells(story, "f2", [1, 2, 3]),
    }
    assert witness(story, reply, FindingKind.MISALIGNED, "2", "id").found == "201002"


def test_a_column_that_looks_like_the_key_does_not_mix_up_the_rows() -> None:
    story = history("insert 1..6", "id long, f1 string, f2 string, p int", partition_by=("p",))
    wrong = changed(story.read(), {"id": lambda key: key % 2})  # the partition's value
    assert named(story, wrong) == {"misaligned": cells(story, "id", [2, 3, 4, 5, 6])}
    assert witness(story, wrong, FindingKind.MISALIGNED, "2", "id").origin == Origin(4, "p", 1, "2")


def test_a_null_of_the_column_that_is_really_read_is_misaligned_too() -> None:
    story = history("insert 1..6; move f1 after f2")
    row_5 = {"5": [each.found for each in diagnosed(story, story.read("position"))[0].places]}
    assert None in row_5["5"]
    assert named(story, story.read("position")) == {"misaligned": cells(story, "f1 f2")}


def test_rows_of_nothing_but_nulls_are_lost_values_under_whatever_name_they_were_written() -> None:
    story = history("insert 1..3; rename f1 g; insert 4")
    reply = story.read()
    nothing = (None,) * len(reply.columns)
    wrong = Reply(reply.columns, (nothing, nothing, *reply.rows[2:]))
    assert named(story, wrong) == {"lost_value": cells(story, "id ts g f2", [1, 2])}
    fewer = Reply(reply.columns, (nothing, *reply.rows[2:]))
    assert named(story, fewer) == {
        "lost_row": {("1", ""), ("2", "")},
        "unexplained": {("NULL", "")},
    }


def test_columns_beyond_the_end_of_the_file_are_lost() -> None:
    story = history("insert 1,2; add f3 after f1; insert 3")
    assert named(story, story.read("position")) == {
        "misaligned": cells(story, "f3", [1, 2]),
        "lost_value": cells(story, "f2", [1, 2]),
    }


def test_a_reader_one_column_too_far_shifts_everything_the_key_as_well() -> None:
    story = history("insert 1..3")
    assert named(story, story.read("position", shift=1)) == {
        "misaligned": cells(story, "id ts f1"),
        "lost_value": cells(story, "f2"),
    }


def test_the_partition_value_under_an_added_column_is_misaligned() -> None:
    columns = "id string, ts long, f1 string, p string"
    story = history("insert 1..4; add f2", columns, partition_by=("p",))
    reply = story.read("position")
    assert named(story, reply) == {"misaligned": cells(story, "f2")}
    assert witness(story, reply, FindingKind.MISALIGNED, "2", "f2").origin == Origin(4, "p", 1, "2")


def test_an_integer_partition_value_under_a_column_is_told_from_the_key_by_its_pattern() -> None:
    columns = "id long, ts long, f1 string, p int"
    story = history("insert 1..6; add f3 after ts", columns, partition_by=("p",))
    reply = story.read("position", partition_counts=True)
    assert named(story, reply) == {
        "misaligned": cells(story, "f3 f1"),
        "lost_value": cells(story, "p"),
    }
    assert witness(story, reply, FindingKind.MISALIGNED, "1", "f1").origin == Origin(4, "p", 1, "1")


LOGS = "insert 1..4; upsert 1; delete 2; add f3; upsert 3"


def logs() -> Story:
    return history(LOGS, mor=True)


def test_base_files_only_shows_stale_rows_and_ghosts() -> None:
    story = logs()
    reply = story.read(logs="ignored")
    assert named(story, reply) == {
        "stale": cells(story, "ts f1 f2", [1]) | cells(story, "ts f1 f2 f3", [3]),
        "ghost_row": {("2", "")},
    }
    seen = witness(story, reply, FindingKind.STALE, "1", "f1")
    assert (seen.expected, seen.found, seen.origin) == ("f3s2r1", "f3s1r1", Origin(3, "f1", 1, "1"))


def test_a_null_of_the_stale_version_of_a_row_is_stale_and_not_lost() -> None:
    story = logs()
    seen = witness(story, story.read(logs="ignored"), FindingKind.STALE, "3", "f3")
    assert (seen.expected, seen.found) == ("f5s5r3", None)


def test_deletes_that_are_not_seen_are_ghost_rows_and_nothing_else() -> None:
    story = logs()
    assert named(story, story.read(logs="undeleted")) == {"ghost_row": {("2", "")}}


def test_logs_by_name_over_base_files_by_position() -> None:
    story = history("insert 1..3; move f1 after f2; upsert 2", mor=True)
    assert named(story, story.read("position")) == {"misaligned": cells(story, "f1 f2", [1, 3])}


def test_base_files_are_what_a_read_optimized_query_should_see() -> None:
    story = logs()
    assert diagnosed(story, story.read(logs="ignored"), "read_optimized") == ()


def test_a_newer_value_in_a_read_optimized_answer_is_premature_and_tells_its_step() -> None:
    story = history("insert 1,2; upsert 1", mor=True)
    (finding,) = diagnosed(story, story.read(), "read_optimized")
    assert (finding.kind, finding.columns) == (FindingKind.PREMATURE, ("ts", "f1", "f2"))
    assert finding.witness.origin == Origin(2, "ts", 2, "1")


def test_a_row_that_log_files_delete_is_left_out_too_early() -> None:
    story = history("insert 1,2; delete 2; insert 3", mor=True)
    (finding,) = diagnosed(story, story.read(), "read_optimized")
    assert (finding.kind, finding.witness.key) == (FindingKind.PREMATURE, "2")
    assert finding.witness.origin == Origin(1, "id", 2, "2")


def test_a_deleted_row_is_lost_where_nothing_of_its_file_came() -> None:
    story = history("insert 1,2; delete 2; insert 3", mor=True)
    reply = story.read(logs="ignored")
    only = Reply(reply.columns, tuple(row for row in reply.rows if row[0] == "3"))
    assert named(story, only, "read_optimized") == {"lost_row": {("1", ""), ("2", "")}}


def test_a_snapshot_answer_is_never_premature() -> None:
    story = history("insert 1,2; upsert 1", mor=True)
    before = replace(story, history=story.history[:2])
    assert set(named(before, story.read())) == {"unexplained"}


def test_compaction_brings_base_files_up_to_date() -> None:
    story = history(f"{LOGS}; compact", mor=True)
    assert diagnosed(story, story.read(logs="ignored")) == ()


def test_an_empty_table_is_right_when_it_is_empty() -> None:
    story = history("add f3; drop f1")
    assert story.read().rows == ()
    assert diagnosed(story, story.read()) == ()


def test_a_null_is_not_taken_for_what_another_file_shows() -> None:
    story = history("insert 1..4; move f1 after f2; insert 5")
    reply = story.read("position")
    assert reply.rows[4] == ("5", 203005, None, "f3s3r5")
    wrong = Reply(reply.columns, (*reply.rows[:4], ("5", 203005, None, None)))
    assert named(story, wrong) == {
        "misaligned": cells(story, "f1 f2", [1, 2, 3, 4]),
        "lost_value": cells(story, "f1", [5]),
    }


def test_a_null_in_a_stale_row_is_lost_where_the_stale_version_has_a_value() -> None:
    story = history("insert 1,2; upsert 1", mor=True)
    wrong = changed(story.read(logs="ignored"), {"f1": lambda v: v if v == "f3s1r2" else None})
    assert named(story, wrong) == {
        "stale": cells(story, "ts f2", [1]),
        "lost_value": cells(story, "f1", [1]),
    }


def test_the_old_value_of_another_row_does_not_make_a_row_stale() -> None:
    story = history("insert 1,2; add f3; upsert 1,2")
    reply = story.read()
    wrong = Reply(reply.columns, (("1", 203001, "f3s1r2", "f4s3r1", None), reply.rows[1]))
    assert named(story, wrong) == {
        "unexplained": cells(story, "f1", [1]),
        "lost_value": cells(story, "f3", [1]),
    }


def test_a_value_written_before_and_after_the_expected_one_is_the_older() -> None:
    story = history("row id=1 f1=x; row id=1 f1=y; row id=1 f1=x", mor=True)
    wrong = changed(history("row id=1 f1=y", mor=True).read(), {"f1": lambda _: "x"})
    before = replace(story, history=story.history[:3])
    origin = witness(before, wrong, FindingKind.STALE, "1", "f1").origin
    assert origin == Origin(3, "f1", 1, "1")
