from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

import pytest

from harness.core.records import (
    Answer,
    Column,
    Finding,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    Verdict,
    VerdictKind,
)
from harness.judge.final_attribution import with_final_attribution
from harness.judge.verdicts import JudgedVariant, judge
from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, Query
from harness.model.query_shapes import query
from harness.scenario.cells import Cell
from tests.builders.judged_story import answer_of, case_without_values
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_reader import Reader, Reply
from tests.builders.table_story import Story, history
from tests.quality.asked import UnorderedError, ask, questions

NESTED = "id string, ts long, a struct<city: string, no: int>, f1 string"
UNTOLD = ("by name", "by id, files left out by name", "by position, files left out by name")
"""What fits an answer that lacks the rows written under the former name of a predicate's column."""


def judged(story: Story, text: str, asked: Query, reply: Reply, view: str = "snapshot") -> Verdict:
    cell = Cell("variant", len(story.operations), "engine-1", view, text)
    answer = replace(answer_of(reply, asked), case=cell.case)
    verdicts = variant_of(story).judge(cell, answer)
    assert verdicts is not None
    (verdict,) = with_final_attribution([verdicts], {cell.case: answer})
    return verdict


@lru_cache(maxsize=1)
def variant_of(story: Story) -> JudgedVariant:
    return JudgedVariant(case_without_values(story))


def put(story: Story, text: str, reader: Reader, *, prune_by: str = "") -> Verdict:
    asked = query(text, story.truth)
    return judged(story, text, asked, ask(story, asked, reader, prune_by=prune_by))


def kinds(verdict: Verdict) -> set[FindingKind]:
    return {finding.kind for finding in verdict.findings}


def keys(finding: Finding) -> list[str]:
    return [place.key for place in finding.witnesses]


@pytest.mark.parametrize("seed", range(8))
def test_the_way_of_a_reader_is_among_those_that_reproduce_its_answer(seed: int) -> None:
    story = story_of_seed(seed)
    for shape in questions(story):
        for by in ("id", "name", "position"):
            with suppress(UnorderedError):
                verdict = judged(
                    story, shape.text, shape.query, ask(story, shape.query, Reader(by))
                )
                assert f"by {by}" in verdict.reproduces, shape.text


@pytest.mark.parametrize("seed", range(8))
def test_an_answer_other_than_the_expected_one_is_never_correct(seed: int) -> None:
    story = story_of_seed(seed)
    for shape in questions(story):
        right = ask(story, shape.query, Reader("id"))
        for by in ("name", "position"):
            try:
                reply = ask(story, shape.query, Reader(by, logs="ignored"))
            except UnorderedError:
                continue
            same = sorted(map(repr, reply.rows)) == sorted(map(repr, right.rows))
            verdict = judged(story, shape.text, shape.query, reply)
            assert (verdict.verdict is VerdictKind.CORRECT) == same, shape.text


@pytest.fixture(scope="module")
def renamed() -> Story:
    return history("insert 1,2; insert 3,4; rename f1 g; upsert 4")


def test_a_predicate_pushed_to_the_statistics_of_the_file_s_names_loses_rows(
    renamed: Story,
) -> None:
    assert put(renamed, "predicate(g)", Reader("id")).verdict is VerdictKind.CORRECT
    verdict = put(renamed, "predicate(g)", Reader("id"), prune_by="name")
    (finding,) = verdict.findings
    assert (finding.kind, keys(finding)) == (FindingKind.LOST_ROW, ["1"])
    assert finding.witness.expected == ("1", 201001, "f3s1r1", "f4s1r1")
    # Read by name, the predicate would hold for nothing: the answer cannot tell the two apart.
    assert verdict.reproduces == UNTOLD


def test_a_count_that_is_wrong_says_what_was_expected_and_what_was_found(renamed: Story) -> None:
    verdict = put(renamed, "count(g)", Reader("name"))
    (finding,) = verdict.findings
    assert finding.kind is FindingKind.LOST_ROW
    assert (finding.witness.expected, finding.witness.actual) == (1, 0)
    assert finding.columns == ("count(*)",)
    assert verdict.reproduces == UNTOLD


def counted(story: Story, value: object) -> Verdict:
    column = Column("n", "bigint", "long")
    return judged(story, "count(g)", query("count(g)", story.truth), Reply((column,), ((value,),)))


@pytest.mark.parametrize("value", [None, True, "1", 1.0])
def test_a_count_that_is_no_number_is_unexplained(renamed: Story, value: object) -> None:
    assert kinds(counted(renamed, value)) == {FindingKind.UNEXPLAINED}


def test_a_count_of_no_rows_or_two_is_unexplained(renamed: Story) -> None:
    asked = query("count(g)", renamed.truth)
    reply = ask(renamed, asked, Reader("id"))
    for rows in ((), (*reply.rows, *reply.rows)):
        verdict = judged(renamed, "count(g)", asked, replace(reply, rows=rows))
        assert kinds(verdict) == {FindingKind.UNEXPLAINED}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("f3s1r2", FindingKind.LOST_VALUE),  # another row's, which is asked for
        (None, FindingKind.LOST_VALUE),
        ("f3s1r1", FindingKind.STALE),
        ("f3s1r3", FindingKind.GHOST_ROW),  # of a deleted row
        ("f4s1r4", FindingKind.MISALIGNED),
        ("nobody's", FindingKind.UNEXPLAINED),
        ("F3S4R1", FindingKind.ALTERED_VALUE),
    ],
)
def test_an_extreme_is_named_after_whose_value_it_is(value: Value, kind: FindingKind) -> None:
    story = history("insert 1..4; rename f1 g; delete 3; upsert 1")
    column = Column("x", "string", "string")
    asked = query("max(g)", story.truth)
    verdict = judged(story, "max(g)", asked, Reply((column,), ((value,),)))
    assert verdict.expected is not None
    assert verdict.expected.rows == (("f3s4r1",),)
    assert kinds(verdict) == {kind}


CELL = Cell("variant", 3, "engine-1", "snapshot", "column(g)")
VOID = Answer(CELL.case, "", not_applicable="after step 3 there is no column 'g'")


def test_a_question_that_fell_away_with_its_column_has_no_verdict() -> None:
    story = history("insert 1,2; rename f1 g; insert 3", applied=[True, False, True])
    refused = Outcome(2, OutcomeKind.REFUSED, refusal=Refusal("Error", "no"))
    verdicts = judge(case_without_values(story, {2: refused}), [CELL], {CELL.case: VOID})
    assert [verdict.view for verdict in verdicts] == ["write"]


def test_a_question_never_falls_away_while_every_step_was_applied() -> None:
    story = history("insert 1,2; rename f1 g; insert 3")
    (result,) = judge(case_without_values(story), [CELL], {CELL.case: VOID})
    assert (result.verdict, result.because) == (VerdictKind.UNKNOWN, VOID.not_applicable)


def unmade(steps: str, refused: int, view: str = "read_optimized") -> list[Verdict]:
    applied = [at != refused for at in (1, 2)]
    story = history(steps, mor=True, applied=applied)
    outcome = Outcome(refused, OutcomeKind.REFUSED, refusal=Refusal("Error", "no"))
    cell = Cell("variant", 2, "engine-1", view, "all")
    answer = Answer(cell.case, "", unknown=f"the catalog has no entry for the view {view}")
    verdicts = judge(case_without_values(story, {refused: outcome}), [cell], {cell.case: answer})
    return [verdict for verdict in verdicts if verdict.view != "write"]


def test_a_question_about_a_view_that_no_write_has_made_yet_has_no_verdict() -> None:
    assert unmade("insert 1,2; add f3", refused=1) == []


def test_a_view_that_a_write_should_have_made_is_unknown() -> None:
    (result,) = unmade("insert 1,2; add f3", refused=2)
    assert result.verdict is VerdictKind.UNKNOWN


@pytest.mark.parametrize("half_done", [1, 2])
def test_a_view_that_a_half_done_write_has_not_registered_has_no_verdict(half_done: int) -> None:
    """The step has one: it was committed, and its writer then failed."""
    story = history("insert 1,2; insert 3", mor=True)
    outcome = Outcome(half_done, OutcomeKind.APPLIED, refusal=Refusal("Error", "no sync"))
    cell = Cell("variant", 2, "engine-1", "snapshot", "all")
    absent = Answer(cell.case, "", unknown="the catalog has no entry for the view snapshot")
    verdicts = judge(case_without_values(story, {half_done: outcome}), [cell], {cell.case: absent})
    assert [(verdict.view, verdict.step) for verdict in verdicts] == [("write", half_done)]


def test_the_view_that_a_table_has_from_the_beginning_is_unknown_where_it_is_not_there() -> None:
    (result,) = unmade("insert 1,2; add f3", refused=1, view="base_name")
    assert result.verdict is VerdictKind.UNKNOWN


LATE = "insert 1,2; add late string after ts; forbid late; insert 3"
BY_SCHEMA = "by id, conditions on NULL answered from the schema"


def test_a_reader_that_takes_a_forbidden_null_for_nowhere_is_among_those_that_lose_rows() -> None:
    story = history(LATE)
    right = ask(story, asked := Query(where=Condition("late", Comparison.NULL)), Reader("id"))
    verdict = judged(story, "null(late)", asked, replace(right, rows=()))
    assert kinds(verdict) == {FindingKind.LOST_ROW}
    assert BY_SCHEMA in verdict.reproduces
    assert verdict.claimed == ""  # by position finds no NULL either, and the answer has no row


def test_a_reader_that_takes_every_value_to_be_there_is_named() -> None:
    story = history(f"{LATE}; rename f2 g")
    asked = Query(where=Condition("late", Comparison.NOT_NULL))
    verdict = judged(story, "all", asked, ask(story, Query(), Reader("id")))
    assert kinds(verdict) == {FindingKind.GHOST_ROW}
    assert verdict.claimed == BY_SCHEMA
