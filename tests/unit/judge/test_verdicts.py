import datetime
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.core.records import (
    Answer,
    Column,
    FindingKind,
    Outcome,
    OutcomeKind,
    Part,
    Refusal,
    Verdict,
    VerdictKind,
)
from harness.core.refusals import OTHER_TYPE
from harness.judge import name
from harness.judge.verdicts import judge
from harness.model.canonical import UNSETTLED, Value, from_json, same, to_json
from harness.model.datatypes import parse_type
from harness.model.query import Comparison, Condition, Query
from harness.model.schema import Field
from harness.model.truth import named, row_values
from tests.builders.judged_story import (
    answer_of,
    case_without_values,
    cell_at,
    judged_answer,
    verdict_on,
    with_last,
)
from tests.builders.judged_story import judged as judge_replies
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import Story, history

POSITION = Refusal("GENERIC_INTERNAL_ERROR", "io.trino.spi.type.VarcharType")


@pytest.fixture(scope="module")
def moved() -> Story:
    return history("insert 1..4; move f1 after f2; upsert 2", mor=True)


def test_where_several_mappings_reproduce_an_answer_all_are_reported(moved: Story) -> None:
    verdict = judged_answer(moved, moved.read(logs="ignored"))
    assert verdict.reproduces == (
        "by id, base files only",
        "by name, base files only",
        "by position, base files only, catalog of step 0",
    )


@pytest.mark.parametrize("count", [False, True])
def test_a_count_and_an_answer_without_rows_are_too_little_to_claim_the_one_way_that_gives_them(
    *, count: bool
) -> None:
    # The file's own values of f2 do not rule out the one wanted: it is left out by no statistics.
    story = history("insert 1,2; row id=2 f2=a; move f1 after f2")
    asked = Query(count=count, where=Condition("f1", Comparison.EQUAL, "f3s1r1", "string"))
    empty = Answer("", "", story.read().columns, question=asked)
    none = replace(empty, columns=(Column("n", "bigint", "long"),), rows=((0,),))
    verdict = verdict_on(case_without_values(story), none if count else empty)
    assert (verdict.verdict, verdict.reproduces) == (VerdictKind.WRONG, ("by position",))
    assert (verdict.inconclusive, verdict.claimed) == (True, "")


def test_each_reader_is_judged_by_what_it_answered_itself(moved: Story) -> None:
    """Equal answers are judged once; 201001.0 equals 201001 in Python, and is another value."""
    reply = moved.read()
    moment = [column.name for column in reply.columns].index("ts")
    floating = tuple(
        tuple(float(str(value)) if at == moment else value for at, value in enumerate(row))
        for row in reply.rows
    )
    readers = {"one": reply.rows, "two": floating, "three": reply.rows, "four": floating}
    cells = [replace(cell_at(moved), reader=name) for name in readers]
    answers = {
        cell.case: Answer(cell.case, name, reply.columns, rows)
        for cell, (name, rows) in zip(cells, readers.items(), strict=True)
    }
    verdicts = judge(case_without_values(moved), cells, answers)
    right, wrong = VerdictKind.CORRECT, VerdictKind.WRONG
    assert [verdict.verdict for verdict in verdicts] == [right, wrong, right, wrong]
    assert [verdict.sql for verdict in verdicts] == list(readers)


def test_a_compaction_that_did_nothing_is_judged_as_the_files_are() -> None:
    story = history("insert 1..3; upsert 1; delete 2; compact", mor=True)
    case = case_without_values(story)
    case = with_last(case, replace(case.states[4], files=case.states[3].files))
    before = history("insert 1..3").read()
    for reply, kind in ((before, VerdictKind.CORRECT), (story.read(), VerdictKind.WRONG)):
        verdict = verdict_on(case, answer_of(reply), "read_optimized")
        assert (verdict.verdict, verdict.because) == (kind, "")
        assert {finding.kind.value for finding in verdict.findings} <= {"premature"}


def test_files_that_are_not_as_the_model_says_make_a_read_optimized_cell_unknown(
    moved: Story,
) -> None:
    case = case_without_values(moved)
    base_only = with_last(case, replace(case.states[3], files=()))
    verdict = verdict_on(base_only, answer_of(moved.read(logs="ignored")), "read_optimized")
    assert verdict.verdict is VerdictKind.UNKNOWN
    assert verdict.because == (
        "layout: row 1: files hold none, the model says that of step 1; not exact: 24 tables are "
        "admissible, each row in any version that it has had, or not at all"
    )


def test_an_answer_of_an_instant_that_no_step_made_is_no_mapping(moved: Story) -> None:
    case = case_without_values(moved)
    strange = tuple(replace(file, instant="1999") for file in case.states[3].files)
    last = replace(case.states[3], files=strange)
    verdict = verdict_on(with_last(case, last), answer_of(moved.read("position")))
    assert (verdict.verdict, verdict.reproduces) == (VerdictKind.WRONG, ())


@pytest.mark.parametrize("view", ["read_optimized", "snapshot"])
def test_why_the_files_tell_nothing_is_reported(moved: Story, view: str) -> None:
    case = case_without_values(moved)
    last = replace(case.states[3], files=(), layout="a log block of type 5 is not read")
    verdict = verdict_on(with_last(case, last), answer_of(moved.read("position")), view)
    assert "a log block of type 5 is not read" in verdict.because
    assert "not exact" in verdict.because
    expected = VerdictKind.UNKNOWN if view == "read_optimized" else VerdictKind.WRONG
    assert verdict.verdict is expected


def test_a_cell_without_an_answer_did_not_run(moved: Story) -> None:
    (verdict,) = judge(case_without_values(moved), [cell_at(moved)], {})
    assert (verdict.verdict, verdict.because) == (VerdictKind.UNKNOWN, "did not run")


def refused(story: Story, *parts: Part) -> Verdict:
    answer = Answer("", "select", refusal=POSITION, parts=parts)
    return verdict_on(case_without_values(story), answer)


def test_a_refusal_stays_one_and_the_files_tell_what_it_means() -> None:
    verdict = refused(history("insert 1,2; add n long after ts"))
    assert (verdict.verdict, verdict.findings) == (VerdictKind.REFUSED, ())
    assert verdict.because == f"read by position: {OTHER_TYPE}"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("insert 1,2; drop f2; add f2 long", OTHER_TYPE),  # by name as well as by position
        ("insert 1,2; drop f2; add f1b; add f2 long", f"read by name: {OTHER_TYPE}"),
        ("insert 1,2; move f1 after f2; type f2 int", OTHER_TYPE),
        ("insert 1,2; move f1 after f2", OTHER_TYPE),
    ],
)
def test_a_clash_of_types_names_a_way_to_read_where_it_is_the_only_one(
    text: str, because: str
) -> None:
    assert refused(history(text)).because == because


def test_a_step_that_was_refused_changes_nothing_and_has_a_verdict_of_its_own() -> None:
    story = history("insert 1,2; drop f2; upsert 1")
    no = Outcome(2, OutcomeKind.REFUSED, refusal=Refusal("AnalysisException", "no"))
    as_applied = history("insert 1,2; drop f2; upsert 1", applied=[True, False, True])
    step, verdict = judge_replies(case_without_values(story, {2: no}), [as_applied.read()])
    assert (step.verdict, step.step, step.because) == (
        VerdictKind.REFUSED, 2, "AnalysisException: no",
    )  # fmt: skip
    assert verdict.verdict is VerdictKind.CORRECT


def test_nothing_is_known_after_a_step_whose_end_is_unknown() -> None:
    story = history("insert 1,2; upsert 1; upsert 2")
    lost = Outcome(2, OutcomeKind.UNKNOWN, because="the writer died")
    cells = [cell_at(story, step=step) for step in (1, 2, 3)]
    before = history("insert 1,2").read()
    answers = {cell.case: Answer(cell.case, "", before.columns, before.rows) for cell in cells}
    verdicts = judge(case_without_values(story, {2: lost}), cells, answers)
    kinds = [(verdict.step, verdict.verdict.value) for verdict in verdicts]
    assert kinds == [(2, "unknown"), (1, "correct"), (2, "unknown"), (3, "unknown")]


def test_a_skipped_step_has_no_cells() -> None:
    story = history("insert 1,2; upsert 1")
    skipped = Outcome(2, OutcomeKind.SKIPPED, because="step 1 refused")
    assert judge(case_without_values(story, {2: skipped}), [cell_at(story)], {}) == ()


def test_a_row_that_the_files_themselves_should_not_hold_is_reported_with_the_wrong_answer() -> (
    None
):
    story = history("insert 1,2; delete 2")
    undeleted = history("insert 1,2; upsert 2")  # what a writer leaves that deletes nothing
    files = tuple(file.fact() for file in undeleted.disk.files)
    case = case_without_values(story)
    case = with_last(case, replace(case.states[2], files=files))
    verdict = verdict_on(case, answer_of(history("insert 1,2").read()))
    assert [finding.kind.value for finding in verdict.findings] == ["ghost_row"]
    assert verdict.because.startswith("the files are not as the truth says: ")
    assert verdict.because.endswith(f"the truth has no row 2 at instant {instant_of(2)}")


def test_a_check_that_fails_makes_one_cell_unknown_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> bool:
        raise ZeroDivisionError("in a check")

    story = history("insert 1,2; rename f1 f1_new")
    whole = story.read()
    wrong = replace(whole, rows=tuple((*row[:2], None, *row[3:]) for row in whole.rows))
    cells = [cell_at(story), replace(cell_at(story), reader="engine-2")]
    replies = (wrong, whole)
    answers = {
        cell.case: replace(answer_of(reply), case=cell.case)
        for cell, reply in zip(cells, replies, strict=True)
    }
    monkeypatch.setattr(name, "CHECKS", {FindingKind.UNEXPLAINED: fails})
    verdicts = judge(case_without_values(story), cells, answers)
    assert [(verdict.verdict, verdict.because) for verdict in verdicts] == [
        (VerdictKind.UNKNOWN, "harness: ZeroDivisionError: in a check"),
        (VerdictKind.CORRECT, ""),
    ]
    (record,) = caplog.records
    assert (record.name, record.exc_info is not None) == ("harness.judge", True)


COLUMNS = "id string, ts long, n int, f1 string, f2 string"
Wrong = Callable[[list[Value]], None]


@pytest.fixture(scope="module")
def retyped() -> Story:
    return history("insert 1..4; retype n date", COLUMNS)


def answered(story: Story, spoil: Wrong = lambda row: None) -> Answer:
    schema = story.truth.schema
    rows = [list(row_values(row, schema)) for row in story.truth.rows.values()]
    for number, row in enumerate(rows):
        row[2] = datetime.date(1970, 1, 1 + number)
    spoil(rows[0])
    columns = [Column(field.name, "", str(field.type)) for field in schema.fields]
    return Answer(cell_at(story).case, "select", tuple(columns), tuple(map(tuple, rows)))


def judged(story: Story, answer: Answer) -> Verdict:
    return verdict_on(case_without_values(story), answer)


def test_an_answer_is_unknown_where_nothing_but_such_values_could_be_wrong(retyped: Story) -> None:
    verdict = judged(retyped, answered(retyped))
    assert (verdict.verdict, verdict.findings) == (VerdictKind.UNKNOWN, ())
    assert verdict.because == "no specification settles what became of values in another type: n"


def test_a_wrong_value_beside_such_a_column_is_wrong(retyped: Story) -> None:
    def swap(row: list[Value]) -> None:
        row[3], row[4] = row[4], row[3]

    verdict = judged(retyped, answered(retyped, swap))
    assert verdict.verdict is VerdictKind.WRONG
    assert {finding.kind for finding in verdict.findings} == {FindingKind.MISALIGNED}


@pytest.mark.parametrize("to", ["double", "string"])
@pytest.mark.parametrize(
    ("value", "settled"),
    [(0.10000000149011612, False), (3.4028234663852886e38, False), (0.5, True)],
)
def test_a_float_that_has_two_readings_is_not_settled(
    value: float, to: str, *, settled: bool
) -> None:
    field = Field(1, "n", parse_type(to), exact=False)
    assert (named(value, field) is not UNSETTLED) is settled


@pytest.mark.parametrize("value", [7, "x", None, (1, 2)])
def test_it_differs_from_nothing_and_comes_back_from_its_record(value: Value) -> None:
    assert same(UNSETTLED, value)
    assert same((UNSETTLED,), (value,))
    assert not same((UNSETTLED, 1), (value, 2))
    assert from_json(to_json(UNSETTLED)) is UNSETTLED
