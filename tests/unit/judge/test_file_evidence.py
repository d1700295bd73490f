from __future__ import annotations

from dataclasses import replace

from harness.core.records import Answer, FindingKind, Witness
from harness.judge.expectations import Expectations
from harness.model.file_facts import FileKind
from harness.model.query import Query
from tests.builders.judged_story import case_of, judged
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history


def places(story: Story, reply: Reply) -> dict[tuple[str, str], Witness]:
    (verdict,) = judged(case_of(story, None), [reply])
    return {
        (witness.key, witness.column): witness for one in verdict.findings for witness in one.places
    }


def spoilt(reply: Reply, key: str, value: str | None) -> Reply:
    at = reply.names.index("f1")
    rows = [(*r[:at], value, *r[at + 1 :]) if str(r[0]) == key else r for r in reply.rows]
    return replace(reply, rows=tuple(rows))


def test_a_value_that_a_way_of_reading_explains_has_the_file_of_that_way() -> None:
    story = history("insert 1..3; update 2 set f2; rename f1 g", mor=True)
    found = places(story, story.read("name"))
    assert found
    holding = {fact.path: fact.keys for fact in case_of(story, None).states[-1].files}
    assert all(each.key in holding[each.file] for each in found.values())
    assert found["2", "g"].file.endswith(".log")


def test_nothing_is_said_where_log_files_may_have_been_left_out_as_well() -> None:
    # As in a read-optimized view: neither file has a column of that name.
    story = history("insert 1..3; update 2 set f2; rename f1 g", mor=True)
    layout = Expectations(case_of(story, None)).layout(3, "snapshot")
    whole = story.read("name")
    at = [whole.names.index(each) for each in ("id", "g")]
    rows = tuple(tuple(row[n] for n in at) for row in whole.rows)
    query = Query(columns=("id", "g"))
    found = layout.read_from(
        Answer("", "select", tuple(whole.columns[n] for n in at), rows, question=query)
    )
    assert {row[1] for row in rows} == {None}
    assert found.keys() == {"1", "3"}


def test_a_row_that_one_file_alone_holds_was_read_from_it_whatever_is_shown() -> None:
    story = history("insert 1..3; insert 4", mor=True)
    reply = spoilt(story.read("id"), "4", "nobody's")
    (found,) = places(story, reply).values()
    holding = {fact.path: fact.keys for fact in case_of(story, None).states[-1].files}
    assert "4" in holding[found.file]


def test_nothing_is_said_where_several_files_hold_the_row_and_no_way_explains_it() -> None:
    story = history("insert 1..3; update 1 set f1", mor=True)
    (found,) = places(story, spoilt(story.read("id"), "1", "nobody's")).values()
    assert found.file == ""


def test_of_a_row_that_is_answered_twice_the_second_has_the_file_that_its_values_tell() -> None:
    story = history("insert 1,2; insert 3; upsert 1", "id string, ts long, b string", mor=True)
    case = case_of(story, None, bare=True)
    (verdict,) = judged(case, [story.read("id", rekeyed=True)])
    (found,) = (witness for one in verdict.findings for witness in one.places)
    (base,) = (file for file in case.states[-1].files if file.path == found.file)
    assert (found.key, base.kind) == ("1", FileKind.BASE)
    assert found.actual == "[1, 201001, f3s1r1]"


def test_of_two_rows_that_look_alike_in_two_files_none_is_named() -> None:
    row = 'rows [{"id":"1","ts":1,"b":"x"}]'
    story = history(f"{row}; {row}", "id string, ts long, b string", mor=True)
    (verdict,) = judged(case_of(story, None, bare=True), [story.read("id", rekeyed=True)])
    (found,) = (witness for one in verdict.findings for witness in one.places)
    assert verdict.findings[0].kind is FindingKind.DUPLICATE
    assert (found.key, found.file) == ("1", "")


def test_a_row_that_is_not_answered_was_read_from_nowhere() -> None:
    story = history("insert 1..3")
    reply = story.read("id")
    (found,) = places(story, replace(reply, rows=reply.rows[1:])).values()
    assert (found.column, found.file) == ("", "")
