from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.core.jsonl import dump, parse
from harness.core.records import (
    Answer,
    Column,
    FindingKind,
    Responsible,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.judge.expectations import Expectations
from harness.judge.file_evidence import UNDATED
from harness.judge.recorded_variant import RecordedVariant
from harness.model.query import Query
from tests.builders.judged_story import case_of, judged, verdict_on
from tests.builders.simulated_disk import File, instant_of
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import history

STORY = "insert 1..4; insert 5,6; move f1 after f2; upsert 2; upsert 3,5; insert 7"
SINCE = "incremental(3)"
NEW = {"2", "3", "5", "7"}


def only(reply: Reply, keys: set[str]) -> Reply:
    return replace(reply, rows=tuple(row for row in reply.rows if row[0] in keys))


def verdict_of(case: RecordedVariant, reply: Reply, view: str = SINCE) -> Verdict:
    (verdict,) = judged(case, [reply], view)
    return verdict


def parties(verdict: Verdict) -> set[Responsible | None]:
    return {finding.responsible for finding in verdict.findings}


def unsaid(state: StateRecord) -> StateRecord:
    return replace(state, values=tuple(replace(value, commits=()) for value in state.values))


def test_records_that_do_not_say_when_rows_were_committed_tell_nothing_and_why() -> None:
    story = history(STORY)
    case = case_of(story)
    old = replace(case, states=tuple(map(unsaid, case.states)))
    assert "commits" in dump(case.states[1])
    assert "commits" not in dump(old.states[1])
    assert parse(StateRecord, dump(old.states[1])) == old.states[1]
    verdict = verdict_of(old, story.read())
    assert (verdict.verdict, verdict.reproduces, parties(verdict)) == (
        VerdictKind.WRONG,
        (),
        {None},
    )
    assert verdict.because.startswith(UNDATED)
    assert "does not say when its rows were committed" in verdict.because
    assert verdict_of(old, story.read(), "snapshot").verdict is VerdictKind.CORRECT


UNMOVED = "insert 1..4; insert 5,6; move f1 after f2"


@pytest.mark.parametrize(
    ("newer", "older", "kind"),
    [
        ({"2", "7"}, {"2"}, FindingKind.DUPLICATE),
        ({"7"}, {"2"}, FindingKind.STALE),
        ({"2", "7"}, {"3"}, FindingKind.GHOST_ROW),
        ({"2", "7"}, {"1", "4", "5", "6"}, FindingKind.GHOST_ROW),
        ({"2"}, set(), FindingKind.LOST_ROW),
    ],
    ids=["before and after", "before alone", "deletions", "the begin ignored", "no insert"],
)
def test_a_reader_that_mistakes_what_a_list_of_changes_means_is_caught(
    newer: set[str], older: set[str], kind: FindingKind
) -> None:
    """Files of Delta do not say when their rows were committed."""
    story, then = history(f"{UNMOVED}; upsert 2; delete 3; insert 7"), history(UNMOVED)
    case = case_of(story)
    case = replace(case, states=tuple(map(unsaid, case.states)))
    shown = only(story.read(), newer)
    rows = (*shown.rows, *only(then.read(), older).rows)
    verdict = verdict_of(case, replace(shown, rows=rows), "incremental(2)")
    assert [finding.kind for finding in verdict.findings] == [kind]
    right = verdict_of(case, only(story.read(), {"2", "7"}), "incremental(2)")
    assert right.verdict is VerdictKind.CORRECT


def late(file: File) -> File:
    """Let all rows of a file be of its own step."""
    return replace(file, commits=dict.fromkeys(file.records, instant_of(file.step)))


def early(file: File) -> File:
    """Let row 2 be of the first step for ever."""
    return replace(file, commits={**file.commits, "2": instant_of(1)})


@pytest.mark.parametrize(("wrong", "shown"), [(late, NEW | {"1", "4", "6"}), (early, NEW - {"2"})])
def test_a_reader_that_goes_by_what_files_say_of_their_rows_is_not_blamed(
    wrong: Callable[[File], File], shown: set[str]
) -> None:
    story = history(STORY)
    case, reply = case_of(story, wrong), only(story.read(), shown)
    verdict = verdict_of(case, reply)
    assert ("by id" in verdict.reproduces, parties(verdict)) == (True, {Responsible.UNSURE})
    several = judged(case, [reply, reply], SINCE)
    assert {verdict.verdict for verdict in several} == {VerdictKind.UNKNOWN}
    agreement = Expectations(case).agreement(len(case.states) - 1, SINCE)
    assert agreement is not None
    assert {discrepancy.key for discrepancy in agreement.discrepancies} == shown ^ NEW
    assert all(
        "its file says that it was committed" in discrepancy.text
        for discrepancy in agreement.discrepancies
    )


def test_a_count_is_the_readers_doing_where_files_say_what_the_truth_does() -> None:
    story = history(STORY)
    count = Answer(
        "", "select", (Column("n", "long", "long"),), ((7,),), question=Query(count=True)
    )
    for files, responsible in ((None, Responsible.READER), (late, Responsible.UNSURE)):
        case = case_of(story, files)
        assert parties(verdict_on(case, count, SINCE)) == {responsible}
