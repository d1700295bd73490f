from dataclasses import replace

from harness.core.records import Answer, Column, Finding, Origin, Part, Refusal, VerdictKind
from harness.model.canonical import OwnTexts, Value
from tests.builders.columns_alone import in_parts
from tests.builders.judged_story import answer_of, case_without_values, verdict_on
from tests.builders.simulated_reader import Reply, columns_of
from tests.builders.table_story import Story, history

STORY = history("insert 1..3", "id string, ts long, a int, b int")
RIGHT = STORY.read()
REFUSED = Refusal("Error", "no")
Heads = dict[str, list[tuple[str, Value, Value]]]


def judged(story: Story, answer: Answer) -> tuple[Finding, ...]:
    verdict = verdict_on(case_without_values(story), answer)
    assert (verdict.verdict is VerdictKind.REFUSED) == (answer.refusal is not None)
    return verdict.findings


def refused(parts: tuple[Part, ...], story: Story = STORY) -> tuple[Finding, ...]:
    return judged(story, Answer("", "select", refusal=REFUSED, parts=parts))


def whole(reply: Reply, story: Story = STORY) -> tuple[Finding, ...]:
    return judged(story, answer_of(reply))


def heads(findings: tuple[Finding, ...]) -> Heads:
    result = {
        finding.kind.value: [
            (p.column, p.expected, p.actual) for p in finding.witnesses if not p.key
        ]
        for finding in findings
    }
    return {kind: places for kind, places in result.items() if places}


def changed(part: Part, row: int, column: int, value: Value, raw: OwnTexts = ()) -> Part:
    rows = [list(row) for row in part.rows]
    rows[row][column] = value
    return replace(part, rows=tuple(map(tuple, rows)), raw=raw)


def test_the_key_asked_alone_has_no_other_column() -> None:
    key, *others = in_parts(RIGHT)
    both = replace(others[-1], column=key.column)
    assert heads(refused((both, *others))) == {"duplicate": [("b", None, "b")]}


def test_each_type_that_parts_declare_the_key_with_is_found() -> None:
    parts = in_parts(RIGHT)
    declared = ("string", "int", "date", "int")
    others = tuple(
        replace(part, columns=(replace(part.columns[0], canonical=type_), *part.columns[1:]))
        for part, type_ in zip(parts, declared, strict=True)
    )
    result = heads(refused(others))
    assert result == {"type_drift": [("id", "string", "int"), ("id", "string", "date")]}


def test_a_column_without_a_part_does_not_belong_in_that_of_another_one() -> None:
    key, ts, _, b = in_parts(RIGHT)
    more = replace(
        b,
        columns=(*b.columns, RIGHT.columns[2]),
        rows=tuple((*row, right[2]) for row, right in zip(b.rows, RIGHT.rows, strict=True)),
    )
    assert heads(refused((key, ts, more))) == {"duplicate": [("a", None, "a")]}


def test_a_part_under_a_former_name_is_named_like_a_whole_answer_with_the_columns_of_then() -> None:
    story = history("insert 1,2; rename b c; upsert 1", "id string, ts long, a int, b int")
    then = Reply(columns_of(story.history[1].schema), story.read().rows)
    *others, last = in_parts(then)
    findings = refused((*others, replace(last, column="c")), story)
    assert heads(findings) == {"stale": [("c", "c", None), ("b", None, "b")]}
    assert heads(findings) == heads(whole(then, story))
    assert {place.origin for finding in findings for place in finding.witnesses} == {
        Origin(4, "c", 1, ""),
        Origin(4, "b", 1, ""),
    }


def test_a_column_of_the_readers_catalog_alone_is_wrong_whatever_its_part_shows() -> None:
    parts = in_parts(RIGHT)
    for odd in (
        Part("z", "select", refusal=REFUSED),
        Part("z", "select", parts[0].columns, parts[0].rows),
        Part("z", "select", (*parts[0].columns, Column("z", "int", "int")), ()),
    ):
        assert heads(refused((*parts, odd)))["unexplained"] == [("z", None, "z")]


def test_parts_that_were_not_answered_have_no_wrong_heads() -> None:
    _, *others = in_parts(RIGHT)
    for key in (Part("id", "select", refusal=REFUSED), Part("id", "select", unknown="time-out")):
        unsent = [Part(other.column, "", refusal=REFUSED) for other in others]
        assert refused((key, *unsent)) == ()
        assert refused((key, *others)) == ()


def test_where_parts_show_other_keys_or_rows_each_is_found() -> None:
    key, ts, a, b = in_parts(RIGHT)
    one, other = changed(a, 0, 0, "x"), changed(b, 0, 0, "y")
    more = replace(ts, rows=(*ts.rows[:2], ts.rows[1]))
    result = {
        finding.kind.value: [(p.key, p.column, p.actual) for p in finding.witnesses]
        for finding in refused((key, more, one, other))
    }
    assert result["unexplained"] == [("1", "id", "x"), ("1", "id", "y")]
    assert [at for at, *_ in result["lost_row"]] == ["3"]
    assert [at for at, *_ in result["duplicate"]] == ["2"]
