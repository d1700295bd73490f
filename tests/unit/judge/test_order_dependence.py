from dataclasses import replace

from harness.core.records import Answer, FindingKind, Refusal, Responsible, Verdict, VerdictKind
from harness.judge.verdicts import WHY
from harness.model.canonical import Value
from tests.builders.judged_story import answer_of, case_without_values, verdict_on
from tests.builders.table_story import Story, history

STORY = history("insert 1..3; rename f1 f1_new")
ORDER = FindingKind.ORDER_DEPENDENT


def answer(story: Story, by: str = "id") -> Answer:
    return answer_of(story.read(by))


def spoilt(whole: Answer, row: int, column: str, value: Value) -> Answer:
    at = whole.labels.index(column)
    rows = [
        (*line[:at], value, *line[at + 1 :]) if number == row else line
        for number, line in enumerate(whole.rows)
    ]
    return replace(whole, rows=tuple(rows))


def judged(fresh: Answer, earlier: Answer | None, story: Story = STORY) -> Verdict:
    result = replace(fresh, again=True, earlier=earlier)
    return verdict_on(case_without_values(story), result)


def test_an_answer_that_was_asked_twice_and_came_the_same_is_judged_like_any_other() -> None:
    assert judged(answer(STORY), None).verdict is VerdictKind.CORRECT
    by_name = judged(answer(STORY, "name"), None)
    assert {finding.kind for finding in by_name.findings} == {FindingKind.MISSING_RENAME}
    assert by_name.because == ""


def test_a_right_answer_that_was_another_one_before_is_wrong_and_shows_both_values() -> None:
    right = answer(STORY)
    verdict = judged(right, spoilt(right, 0, "f1_new", "asuffix"))
    assert (verdict.verdict, verdict.because) == (VerdictKind.WRONG, WHY)
    (finding,) = verdict.findings
    assert (finding.kind, finding.responsible, finding.columns) == (
        ORDER,
        Responsible.READER,
        ("f1_new",),
    )
    (place,) = finding.witnesses
    assert (place.key, place.column) == ("1", "f1_new")
    assert (place.expected, place.actual) == ("f3s1r1", "asuffix")


def test_what_is_wrong_with_the_fresh_server_s_answer_is_reported_beside() -> None:
    stale = answer(STORY, "name")
    verdict = judged(stale, answer(STORY))
    assert [finding.kind for finding in verdict.findings] == [ORDER, FindingKind.MISSING_RENAME]
    assert [(witness.expected, witness.actual) for witness in verdict.findings[0].witnesses] == [
        (None, f"f3s1r{row}") for row in (1, 2, 3)
    ]
    assert verdict.reproduces == ("by name",)


def test_rows_and_columns_that_one_answer_has_are_places_too() -> None:
    right = answer(STORY)
    at = right.labels.index("f1_new")
    fewer = replace(
        right,
        columns=(*right.columns[:at], *right.columns[at + 1 :]),
        rows=tuple((*row[:at], *row[at + 1 :]) for row in right.rows[:-1]),
    )
    (finding,) = judged(right, fewer).findings
    assert [
        (witness.key, witness.column, witness.expected, witness.actual)
        for witness in finding.witnesses
    ] == [("", "f1_new", "f1_new", None), ("3", "", right.rows[-1], None)]


def test_a_refusal_where_rows_came_before_is_wrong_and_stays_a_refusal_to_see() -> None:
    refused = Answer("", "select", refusal=Refusal("K", "m"))
    verdict = judged(refused, answer(STORY))
    assert verdict.verdict is VerdictKind.WRONG
    (finding,) = verdict.findings
    assert [(witness.key, witness.expected) for witness in finding.witnesses] == [
        ("1", None),
        ("2", None),
        ("3", None),
    ]
