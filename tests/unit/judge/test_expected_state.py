from dataclasses import replace

import pytest

from harness.core.records import Answer, FindingKind, Witness
from harness.judge.expectations import Expectations
from harness.judge.expected_state import index_of
from harness.model.query import Query
from tests.builders.judged_story import case_of, judged
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history


def test_a_value_is_known_by_every_text_it_has_had() -> None:
    story = history("insert 1; type n string", "id string, n decimal(6, 4)")
    looks = index_of(story.history).looks
    wrote = {look for look, origins in looks.items() if origins[0].name == "n"}
    assert wrote == {"1.25", "1.2500"}


def test_parts_are_known_beside_the_whole() -> None:
    story = history("insert 1", "id string, s struct<a: string, l: array<int>>")
    index = index_of(story.history)
    whole = {origin.name for origins in index.looks.values() for origin in origins}
    assert whole == {"id", "s", "s.a", "s.l", "s.l.element"}
    assert index.cells[5, "1"][1] == {"501001", "501501"}


RENAMED = "insert 1,2; rename f1 g; upsert 1; rename g h; {}; rename h i"


def test_files_hold_a_value_under_the_names_that_they_have_for_it() -> None:
    before = history(RENAMED.format("upsert 2"), mor=True).state()
    assert before.stored_names_of(3, "1") == {"f1", "g"}
    assert before.stored_names_of(3, "2") == {"f1", "h"}
    after = history(RENAMED.format("compact"), mor=True).state()
    assert after.stored_names_of(3, "1") == {"h"}


def test_unknown_files_may_hold_a_value_under_the_names_since_the_newest_base_file() -> None:
    before = replace(history(RENAMED.format("upsert 2"), mor=True).state(), row_files={})
    assert before.stored_names_of(3, "1") == {"f1", "g", "h", "i"}
    after = replace(history(RENAMED.format("compact"), mor=True).state(), row_files={})
    assert after.stored_names_of(3, "1") == {"g", "h", "i"}
    assert after.stored_names_of(3, "2") == {"f1", "g", "h", "i"}


def test_columns_that_an_earlier_and_a_later_step_had_are_of_neither() -> None:
    story = history("add f3; insert 1; drop f3; drop f1")
    state = replace(story.state(), history=story.history[:3], later=story.history[3:])
    assert state.step_naming(["id", "ts", "f1", "f2"]) is None
    assert state.step_naming(["id", "ts", "f2"]) == 4
    assert replace(state, later=story.history[4:]).step_naming(["id", "ts", "f1", "f2"]) == 0


@pytest.mark.parametrize(("catalog", "step"), [(0, 0), (3, 3)])
def test_how_an_answer_was_read_tells_of_which_of_two_steps_its_columns_are(
    catalog: int, step: int
) -> None:
    story = history("add f3; insert 1; drop f3; drop f1")
    state = replace(story.state(), history=story.history[:3], later=story.history[3:])
    assert replace(state, catalog=catalog).step_naming(["id", "ts", "f1", "f2"]) == step


def test_columns_in_another_case_are_of_the_step_by_whose_schema_they_were_read() -> None:
    story = history("insert 1; rename f1 F1; drop f2")
    state = replace(story.state(), history=story.history[:2], later=story.history[2:])
    assert state.step_naming(["id", "ts", "f1"]) is None
    assert replace(state, catalog=3).step_naming(["id", "ts", "f1"]) == 3


def test_a_name_is_of_another_field_later_only_where_the_answer_was_read_so() -> None:
    story = history("insert 1; drop f1; add f1")
    state = replace(story.state(), history=story.history[:2], later=story.history[2:])
    f1, f2 = state.schema.find("f1"), state.schema.find("f2")
    assert not state.named_later(f1)
    assert replace(state, catalog=3).named_later(f1)
    assert not replace(state, catalog=3).named_later(f2)
    assert not replace(state, catalog=2).named_later(f1)
    assert not replace(state, catalog=0).named_later(f1)


def test_a_value_is_owned_where_one_key_alone_has_had_it() -> None:
    story = history("insert 1; row id=2 f1=x; row id=3 f1=x", "id string, f1 string")
    owned = story.index.owned
    assert owned["f2s1r1"] == ("1", frozenset({2}))
    assert "x" not in owned


def places(story: Story, reply: Reply) -> dict[tuple[str, str], Witness]:
    (verdict,) = judged(case_of(story, None), [reply])
    return {
        (witness.key, witness.column): witness
        for one in verdict.findings
        for witness in one.witnesses
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
    (result,) = (witness for one in verdict.findings for witness in one.witnesses)
    assert verdict.findings[0].kind is FindingKind.DUPLICATE
    assert (result.key, result.file) == ("1", "")
