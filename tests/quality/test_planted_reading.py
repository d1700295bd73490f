"""Readers that resolve columns or merge files wrongly: each is found under its right name."""

from __future__ import annotations

from dataclasses import replace

from harness.core.records import FindingKind, Origin
from tests.quality.notation import Told, cells, changed, diagnosed, history, named, witness
from tests.simulated import Reply

README = "insert 1,2; add f3 after f1; touch; drop f2; rename f1 f1_new; touch"


def test_a_reader_by_id_is_right() -> None:
    told = history(README)
    assert diagnosed(told, told.read("id")) == ()


def test_a_rename_missed_by_name_is_told_for_the_rows_written_before_it() -> None:
    told = history(README)
    assert named(told, told.read("name")) == {"missing_rename": cells(told, "f1_new", [1, 2, 3])}


def test_columns_read_by_position_are_misaligned_and_the_witness_says_whose_value_it_is() -> None:
    told = history(README)
    reply = told.read("position")
    assert named(told, reply) == {"misaligned": cells(told, "f3", [1, 2])}
    seen = witness(told, reply, FindingKind.MISALIGNED, "1", "f3")
    assert (seen.expected, seen.found) == (None, "f4s1r1")
    assert seen.origin == Origin(4, "f2", 1, "1")


def test_a_dropped_column_comes_back_under_a_column_added_with_its_name() -> None:
    told = history("insert 1,2; drop f2; add f2; insert 3")
    reply = told.read("name")
    assert named(told, reply) == {"resurrected": cells(told, "f2", [1, 2])}
    seen = witness(told, reply, FindingKind.RESURRECTED, "2", "f2")
    assert seen.origin == Origin(4, "f2", 1, "2")


def test_a_dropped_column_comes_back_under_its_last_name_though_written_under_another() -> None:
    told = history("insert 1,2; rename f2 g; upsert 1; drop g; add g")
    assert named(told, told.read("name")) == {"resurrected": cells(told, "g", [1, 2])}


def test_a_dropped_column_comes_back_under_a_column_renamed_to_its_name() -> None:
    told = history("insert 1,2; drop f1; rename f2 f1")
    assert named(told, told.read("name")) == {"resurrected": cells(told, "f1")}


def test_swapped_same_typed_neighbours_are_misaligned_both_ways() -> None:
    told = history("insert 1..3; move f1 after f2; insert 4")
    assert named(told, told.read("position")) == {"misaligned": cells(told, "f1 f2", [1, 2, 3])}


def test_names_swapped_by_two_renames_are_misaligned_for_a_reader_by_name() -> None:
    told = history("insert 1..3; rename f1 t; rename f2 f1; rename t f2")
    reply = told.read("name")
    assert named(told, reply) == {"misaligned": cells(told, "f1 f2")}
    origin = witness(told, reply, FindingKind.MISALIGNED, "1", "f1").origin
    assert origin == Origin(3, "f1", 1, "1")


def test_a_rename_onto_a_freed_name_is_misaligned_and_the_freed_column_misses_its_rename() -> None:
    told = history("insert 1..3; rename f1 g; rename f2 f1")
    expected = {"misaligned": cells(told, "f1"), "missing_rename": cells(told, "g")}
    assert named(told, told.read("name")) == expected


def test_a_rename_there_and_back_is_missed_in_files_written_between() -> None:
    told = history("insert 1..3; rename f1 g; upsert 1; rename g f1")
    assert named(told, told.read("name")) == {"missing_rename": cells(told, "f1")}


def test_rows_are_told_apart_though_the_key_column_shows_another_column() -> None:
    told = history("insert 1..3; add n long first; insert 4")
    reply = told.read("position")
    assert named(told, reply) == {
        "misaligned": cells(told, "n id ts f1", [1, 2, 3]),
        "lost_value": cells(told, "f2", [1, 2, 3]),
    }
    assert witness(told, reply, FindingKind.MISALIGNED, "2", "id").found == "201002"


def test_a_column_that_looks_like_the_key_does_not_mix_up_the_rows() -> None:
    told = history("insert 1..6", "id long, f1 string, f2 string, p int", partition_by=("p",))
    wrong = changed(told.read(), {"id": lambda key: key % 2})  # the partition's value
    assert named(told, wrong) == {"misaligned": cells(told, "id", [2, 3, 4, 5, 6])}
    assert witness(told, wrong, FindingKind.MISALIGNED, "2", "id").origin == Origin(4, "p", 1, "2")


def test_a_null_of_the_column_that_is_really_read_is_misaligned_too() -> None:
    told = history("insert 1..6; move f1 after f2")
    row_5 = {"5": [each.found for each in diagnosed(told, told.read("position"))[0].places]}
    assert None in row_5["5"]
    assert named(told, told.read("position")) == {"misaligned": cells(told, "f1 f2")}


def test_rows_of_nothing_but_nulls_are_lost_values_under_whatever_name_they_were_written() -> None:
    told = history("insert 1..3; rename f1 g; insert 4")
    reply = told.read()
    nothing = (None,) * len(reply.columns)
    wrong = Reply(reply.columns, (nothing, nothing, *reply.rows[2:]))
    assert named(told, wrong) == {"lost_value": cells(told, "id ts g f2", [1, 2])}
    fewer = Reply(reply.columns, (nothing, *reply.rows[2:]))
    assert named(told, fewer) == {
        "lost_row": {("1", ""), ("2", "")},
        "unexplained": {("NULL", "")},
    }


def test_columns_beyond_the_end_of_the_file_are_lost() -> None:
    told = history("insert 1,2; add f3 after f1; insert 3")
    assert named(told, told.read("position")) == {
        "misaligned": cells(told, "f3", [1, 2]),
        "lost_value": cells(told, "f2", [1, 2]),
    }


def test_a_reader_one_column_too_far_shifts_everything_the_key_as_well() -> None:
    told = history("insert 1..3")
    assert named(told, told.read("position", shift=1)) == {
        "misaligned": cells(told, "id ts f1"),
        "lost_value": cells(told, "f2"),
    }


def test_the_partition_value_under_an_added_column_is_misaligned() -> None:
    columns = "id string, ts long, f1 string, p string"
    told = history("insert 1..4; add f2", columns, partition_by=("p",))
    reply = told.read("position")
    assert named(told, reply) == {"misaligned": cells(told, "f2")}
    assert witness(told, reply, FindingKind.MISALIGNED, "2", "f2").origin == Origin(4, "p", 1, "2")


def test_an_integer_partition_value_under_a_column_is_told_from_the_key_by_its_pattern() -> None:
    columns = "id long, ts long, f1 string, p int"
    told = history("insert 1..6; add f3 after ts", columns, partition_by=("p",))
    reply = told.read("position", partition_counts=True)
    assert named(told, reply) == {
        "misaligned": cells(told, "f3 f1"),
        "lost_value": cells(told, "p"),
    }
    assert witness(told, reply, FindingKind.MISALIGNED, "1", "f1").origin == Origin(4, "p", 1, "1")


LOGS = "insert 1..4; upsert 1; delete 2; add f3; upsert 3"


def logs() -> Told:
    return history(LOGS, mor=True)


def test_base_files_only_shows_stale_rows_and_ghosts() -> None:
    told = logs()
    reply = told.read(logs="ignored")
    assert named(told, reply) == {
        "stale": cells(told, "ts f1 f2", [1]) | cells(told, "ts f1 f2 f3", [3]),
        "ghost_row": {("2", "")},
    }
    seen = witness(told, reply, FindingKind.STALE, "1", "f1")
    assert (seen.expected, seen.found, seen.origin) == ("f3s2r1", "f3s1r1", Origin(3, "f1", 1, "1"))


def test_a_null_of_the_stale_version_of_a_row_is_stale_and_not_lost() -> None:
    told = logs()
    seen = witness(told, told.read(logs="ignored"), FindingKind.STALE, "3", "f3")
    assert (seen.expected, seen.found) == ("f5s5r3", None)


def test_deletes_that_are_not_seen_are_ghost_rows_and_nothing_else() -> None:
    told = logs()
    assert named(told, told.read(logs="undeleted")) == {"ghost_row": {("2", "")}}


def test_logs_by_name_over_base_files_by_position() -> None:
    told = history("insert 1..3; move f1 after f2; upsert 2", mor=True)
    assert named(told, told.read("position")) == {"misaligned": cells(told, "f1 f2", [1, 3])}


def test_base_files_are_what_a_read_optimized_query_should_see() -> None:
    told = logs()
    assert diagnosed(told, told.read(logs="ignored"), "read_optimized") == ()


def test_a_newer_value_in_a_read_optimized_answer_is_premature_and_tells_its_step() -> None:
    told = history("insert 1,2; upsert 1", mor=True)
    (finding,) = diagnosed(told, told.read(), "read_optimized")
    assert (finding.kind, finding.columns) == (FindingKind.PREMATURE, ("ts", "f1", "f2"))
    assert finding.witness.origin == Origin(2, "ts", 2, "1")


def test_a_row_that_log_files_delete_is_left_out_too_early() -> None:
    told = history("insert 1,2; delete 2; insert 3", mor=True)
    (finding,) = diagnosed(told, told.read(), "read_optimized")
    assert (finding.kind, finding.witness.key) == (FindingKind.PREMATURE, "2")
    assert finding.witness.origin == Origin(1, "id", 2, "2")


def test_a_deleted_row_is_lost_where_nothing_of_its_file_came() -> None:
    told = history("insert 1,2; delete 2; insert 3", mor=True)
    reply = told.read(logs="ignored")
    only = Reply(reply.columns, tuple(row for row in reply.rows if row[0] == "3"))
    assert named(told, only, "read_optimized") == {"lost_row": {("1", ""), ("2", "")}}


def test_a_snapshot_answer_is_never_premature() -> None:
    told = history("insert 1,2; upsert 1", mor=True)
    before = replace(told, history=told.history[:2])
    assert set(named(before, told.read())) == {"unexplained"}


def test_compaction_brings_base_files_up_to_date() -> None:
    told = history(f"{LOGS}; compact", mor=True)
    assert diagnosed(told, told.read(logs="ignored")) == ()


def test_an_empty_table_is_right_when_it_is_empty() -> None:
    told = history("add f3; drop f1")
    assert told.read().rows == ()
    assert diagnosed(told, told.read()) == ()


def test_a_null_is_not_taken_for_what_another_file_shows() -> None:
    told = history("insert 1..4; move f1 after f2; insert 5")
    reply = told.read("position")
    assert reply.rows[4] == ("5", 203005, None, "f3s3r5")
    wrong = Reply(reply.columns, (*reply.rows[:4], ("5", 203005, None, None)))
    assert named(told, wrong) == {
        "misaligned": cells(told, "f1 f2", [1, 2, 3, 4]),
        "lost_value": cells(told, "f1", [5]),
    }


def test_a_null_in_a_stale_row_is_lost_where_the_stale_version_has_a_value() -> None:
    told = history("insert 1,2; upsert 1", mor=True)
    wrong = changed(told.read(logs="ignored"), {"f1": lambda v: v if v == "f3s1r2" else None})
    assert named(told, wrong) == {
        "stale": cells(told, "ts f2", [1]),
        "lost_value": cells(told, "f1", [1]),
    }


def test_the_old_value_of_another_row_does_not_make_a_row_stale() -> None:
    told = history("insert 1,2; add f3; upsert 1,2")
    reply = told.read()
    wrong = Reply(reply.columns, (("1", 203001, "f3s1r2", "f4s3r1", None), reply.rows[1]))
    assert named(told, wrong) == {
        "unexplained": cells(told, "f1", [1]),
        "lost_value": cells(told, "f3", [1]),
    }


def test_a_value_written_before_and_after_the_expected_one_is_the_older() -> None:
    told = history("row id=1 f1=x; row id=1 f1=y; row id=1 f1=x", mor=True)
    wrong = changed(history("row id=1 f1=y", mor=True).read(), {"f1": lambda _: "x"})
    before = replace(told, history=told.history[:3])
    origin = witness(before, wrong, FindingKind.STALE, "1", "f1").origin
    assert origin == Origin(3, "f1", 1, "1")
