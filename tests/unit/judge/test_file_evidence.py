from __future__ import annotations

from dataclasses import replace

from harness.core.records import Answer, FindingKind, Witness
from harness.judge.expectations import Expectations
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


def test_nothing_is_reported_where_log_files_may_have_been_left_out_as_well() -> None:
    # As in a read-optimized view: neither file has a column of that name.
    story = history("insert 1..3; update 2 set f2; rename f1 g", mor=True)
    layout = Expectations(case_of(story, None)).layout(3, "snapshot")
    whole = story.read("name")
    at = [whole.names.index(text) for text in ("id", "g")]
    rows = tuple(tuple(row[n] for n in at) for row in whole.rows)
    query = Query(columns=("id", "g"))
    file_facts = layout.read_from(
        Answer("", "select", tuple(whole.columns[n] for n in at), rows, question=query)
    )
    assert {row[1] for row in rows} == {None}
    assert file_facts.keys() == {"1", "3"}


def test_nothing_is_reported_where_several_files_hold_the_row_and_no_way_explains_it() -> None:
    story = history("insert 1..3; update 1 set f1", mor=True)
    (result,) = places(story, spoilt(story.read("id"), "1", "nobody's")).values()
    assert result.file == ""


def test_of_two_rows_that_look_alike_in_two_files_none_is_named() -> None:
    row = 'rows [{"id":"1","ts":1,"b":"x"}]'
    story = history(f"{row}; {row}", "id string, ts long, b string", mor=True)
    (verdict,) = judged(case_of(story, None, bare=True), [story.read("id", rekeyed=True)])
    (result,) = (witness for one in verdict.findings for witness in one.places)
    assert verdict.findings[0].kind is FindingKind.DUPLICATE
    assert (result.key, result.file) == ("1", "")
