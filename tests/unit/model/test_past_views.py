"""Views of the past: which step they go back to, their truth, and findings on wrong answers."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.core.records import Outcome, OutcomeKind, Verdict, VerdictKind
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import RecordedVariant
from harness.model import past_views
from harness.model.past_views import Past, planned
from harness.model.query import ALL, Query
from harness.model.truth import row_values, staged
from harness.scenario.operations.row_writes import Insert, MoveRow, Upsert
from harness.scenario.operations.services import Compact
from harness.scenario.operations.snapshots import CreateTag
from tests.builders import judged_story
from tests.builders.conditions import not_null
from tests.builders.judged_story import answer_of, case_without_values, verdict_on
from tests.builders.random_story import story_of_seed
from tests.builders.scenarios import scenario_of
from tests.builders.simulated_reader import Reader, Reply, columns_of, read
from tests.builders.table_story import Story, history

STORY = "insert 1..4; upsert 2; rename f1 g; upsert 2,5; delete 3; add f3 int"


def case_of(story: Story, kinds: Mapping[int, OutcomeKind] | None = None) -> RecordedVariant:
    """The records of a writer whose schema changes make no instant, as Iceberg's."""
    steps = enumerate(story.operations, start=1)
    silent = [at for at, step in steps if step.CHANGES_SCHEMA or isinstance(step, CreateTag)]
    outcomes = {**dict.fromkeys([0, *silent], OutcomeKind.APPLIED), **(kinds or {})}
    return case_without_values(story, {at: Outcome(at, kind) for at, kind in outcomes.items()})


def judged(story: Story, reply: Reply, view: str) -> Verdict:
    return verdict_on(case_of(story), answer_of(reply), view)


def columns_by_kind(verdict: Verdict) -> dict[str, tuple[str, ...]]:
    return {finding.kind.value: finding.columns for finding in verdict.findings}


def then(story: Story, step: int, by: str = "id") -> Reply:
    return read(story.disk, story.history[step], Reader(by))


@pytest.mark.parametrize(
    ("steps", "back"),
    [
        ("insert 1", None),
        ("insert 1; insert 2", 1),
        ("insert 1; insert 2; drop f1", 2),
        ("insert 1; drop f1; insert 2; insert 3", 1),
        ("insert 1; upsert 1; clean; rename f1 g", 2),
        ("insert 1; upsert 1; rename f1 g; archive; insert 2", None),
    ],
)
def test_it_goes_back_to_the_write_before_the_last_schema_change(
    steps: str, back: int | None
) -> None:
    expected = None if back is None else Past("as_of", back)
    assert planned("as_of", history(steps).history) == expected


@pytest.mark.parametrize("seed", range(8))
def test_the_truth_of_a_past_view_is_that_of_then_or_what_was_written_since(seed: int) -> None:
    story = story_of_seed(seed)
    case, last = case_of(story), len(story.operations)
    expectations = Expectations(case)
    made = sorted(case.instants.values())
    for step in range(made[0], last):
        truth = story.history[max(number for number in made if number <= step)]
        expected = expectations.table(last, f"as_of({step})", ALL)
        assert [name for name, _ in expected.columns] == list(truth.schema.names)
        rows = [row_values(row, truth.schema) for row in truth.rows.values()]
        assert sorted(map(repr, expected.rows)) == sorted(map(repr, rows))
    now = story.history[last]
    for step in made:
        since, before = expectations.state(last, f"incremental({step})"), story.history[step].rows
        left = {key for key, row in now.rows.items() if before.get(key) == row}
        assert set(since.rows) == set(now.rows) - left
        assert {**since.rows, **since.left_out} == dict(now.rows)


@pytest.mark.parametrize("mor", [False, True])
def test_a_right_reader_is_correct_in_both(mor: bool) -> None:  # noqa: FBT001
    story = history(STORY, mor=mor)
    verdict = judged(story, then(story, 4), "as_of(4)")
    assert (verdict.verdict, verdict.findings) == (VerdictKind.CORRECT, ())
    whole = story.read()
    since = Reply(whole.columns, tuple(row for row in whole.rows if row[0] in {2, 5, "2", "5"}))
    verdict = judged(story, since, "incremental(3)")
    assert (verdict.verdict, verdict.findings, verdict.reproduces) == (VerdictKind.CORRECT, (), ())


def test_a_schema_change_without_an_instant_is_asked_by_the_write_before_it() -> None:
    story = history(STORY)
    assert judged(story, then(story, 2), "as_of(3)").verdict is VerdictKind.CORRECT
    assert columns_by_kind(judged(story, then(story, 3), "as_of(3)")) == {"premature": ("f1", "g")}


TAGGED = "insert 1..3; rename f1 g; tag; upsert 2; add f3 int; delete 3"


def test_a_tag_has_the_columns_that_its_snapshot_was_made_with() -> None:
    story = history(TAGGED)
    assert planned("tag", story.history) == Past("tag", 3)
    assert planned("tag", story.history[:3]) is None
    assert judged(story, then(story, 1), "tag(3)").verdict is VerdictKind.CORRECT
    assert columns_by_kind(judged(story, then(story, 2), "tag(3)")) == {"premature": ("f1", "g")}
    assert set(columns_by_kind(judged(story, story.read(), "tag(3)"))) == {"premature"}


def test_a_tag_stays_when_older_files_are_removed_and_its_write_is_undone() -> None:
    story = history("insert 1..3; upsert 2; tag; clean; upsert 1")
    assert planned("tag", story.history) == Past("tag", 3)
    undone = (*story.history[:-1], replace(story.truth, undone=frozenset({2})))
    assert Past("tag", 3).undone(undone) == frozenset()
    assert Past("as_of", 2).undone(undone) == {2}


STAGED = "insert 1..3; begin delete 1; rename f1 g; insert 4"


def test_a_branch_has_what_is_staged_there_and_the_columns_of_the_table() -> None:
    story = history(STAGED)
    assert planned("branch", story.history) == Past("branch", 2)
    there = staged(story.truth)
    assert (set(there.rows), there.schema) == ({"2", "3"}, story.truth.schema)
    columns = columns_of(there.schema)
    rows = tuple(row_values(row, there.schema) for row in there.rows.values())
    right = Reply(columns, rows)
    assert judged(story, right, "branch(2)").verdict is VerdictKind.CORRECT
    assert columns_by_kind(judged(story, story.read(), "branch(2)")) == {"ghost_row": ()}
    assert columns_by_kind(judged(story, Reply(columns, rows[:1]), "branch(2)")) == {"lost_row": ()}
    old = Reply(then(story, 2).columns, rows)
    assert judged(story, old, "branch(2)").verdict is VerdictKind.WRONG, "columns of then"


ALONE = "insert 1..3; begin delete 1; {}; commit; {}insert 4"
MEANWHILE = "insert 1..3; begin delete 1; add f3 int; insert 5; commit; insert 4"


@pytest.mark.parametrize(
    ("change", "columns"), [("rename f1 g", ("f1", "g")), ("add f3 int", ("f3",))]
)
@pytest.mark.parametrize(("more", "view"), [("", "as_of(4)"), ("tag; ", "tag(5)")])
def test_what_was_begun_and_committed_alone_has_the_columns_of_when_it_was_begun(
    change: str, columns: tuple[str, ...], more: str, view: str
) -> None:
    story = history(ALONE.format(change, more))
    commit = story.history[:5]
    assert past_views.of_commit(commit)[-1].schema == story.history[1].schema
    assert set(past_views.of_commit(commit)[-1].rows) == {"2", "3"}
    right = read(story.disk, past_views.of_commit(commit)[-1], Reader("id"))
    assert judged(story, right, view).verdict is VerdictKind.CORRECT
    assert columns_by_kind(judged(story, then(story, 4), view)) == {"premature": columns}


def test_what_another_write_came_before_is_committed_with_the_columns_of_now() -> None:
    story = history(MEANWHILE)
    assert past_views.of_commit(story.history[:6]) == story.history[:6]
    assert judged(story, then(story, 5), "as_of(5)").verdict is VerdictKind.CORRECT
    assert past_views.of_commit(story.history)[-1].schema == story.truth.schema


@pytest.mark.parametrize(
    ("change", "columns"),
    [("rename f1 g", ("f1", "g")), ("drop f1", ("f1",)), ("add f3 int after f1", ("f3",))],
)
def test_rows_of_then_under_the_columns_of_now_are_right_but_for_columns_that_came_or_went(
    change: str, columns: tuple[str, ...]
) -> None:
    story = history(f"insert 1..4; upsert 2; {change}; upsert 3")
    shown = replace(story.truth, step=2, rows=story.history[2].rows)
    verdict = judged(story, read(story.disk, shown, Reader("id")), "as_of(2)")
    assert columns_by_kind(verdict) == {"premature": columns}
    assert not any(witness.key for witness in verdict.findings[0].witnesses)


@pytest.mark.parametrize(
    ("shown", "wrong"), [(1, {}), (4, {"premature": {("1", "ts"), ("1", "f1"), ("4", "")}})]
)
def test_a_later_text_that_is_no_number_of_then_does_not_keep_an_answer_from_being_judged(
    shown: int, wrong: Mapping[str, object]
) -> None:
    steps = "insert 1..3; type f1 string; row id=4 ts=7 f1=abc; row id=1 ts=9 f1=xyz"
    story = history(steps, "id string, ts long, f1 int")
    query, reply = Query(where=not_null("f1")), then(story, shown)
    if shown > 1:  # under the columns of then, but with the values of now
        reply = Reply(then(story, 1).columns, reply.rows)
    verdict = verdict_on(case_of(story), answer_of(reply, query), "as_of(1)")
    places = {
        finding.kind.value: {(place.key, place.column) for place in finding.witnesses}
        for finding in verdict.findings
    }
    assert places.pop("type_drift", None) is None or shown > 1
    assert places == wrong


def test_after_a_refused_write_the_one_before_it_is_meant() -> None:
    story = history("insert 1..3; upsert 2; add f3 int; upsert 3")
    case = case_of(story, {2: OutcomeKind.REFUSED})
    verdicts = judged_story.judged(case, [then(story, 1)], "as_of(2)")
    assert [verdict.verdict for verdict in verdicts] == [VerdictKind.REFUSED, VerdictKind.CORRECT]


def test_base_files_are_not_asked_for_while_they_rightly_show_a_row_twice() -> None:
    moves = Insert((1, 2, 3)), MoveRow(1, 2), MoveRow(1, 3), Compact(), Upsert((1,))
    moving = scenario_of(*moves, columns={"id": "string", "p": "string"}, partition_by=("p",))
    for mor, there in ((True, [1, 4, 5]), (False, [1, 2, 3, 4, 5])):
        truths = moving.truths(merge_on_read=mor).history()
        asked = (past_views.asked("read_optimized", truths[: step + 1]) for step in range(1, 6))
        assert [step for step, view in enumerate(asked, start=1) if view] == there


def test_the_questions_about_a_tag_are_those_of_the_last_write_before_it() -> None:
    story = history(TAGGED)
    assert past_views.asked("tag", story.history) == ("tag(3)", story.history[:2])


def test_a_view_of_a_name_that_no_step_gave_is_absent_with_the_reason() -> None:
    now = history("insert 1").truth
    assert Past("tag", 1).absent(now) == "step 1 made no tag"
    assert Past("branch", 1).absent(now) == "step 1 staged nothing in a branch"
    assert Past("as_of", 1).absent(now) == ""
    assert staged(now) is now
