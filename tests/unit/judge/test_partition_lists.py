from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.core.records import Answer, FindingKind, OutcomeKind, Part, Refusal, Verdict
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import RecordedVariant
from tests.builders.judged_story import answer_of, case_of, verdict_on
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, f2 string, p string"
STORY = "insert 1,2; add f3 after ts; upsert 1; insert 4"
LISTED = tuple(f"by {text}, partitions by their own column lists" for text in ("id", "name"))


def story(story: str = STORY) -> Story:
    return history(story, COLUMNS, partition_by=("p",))


def cut(one: Story) -> Reply:
    reply = one.read("name")
    at = reply.names.index("f2")
    return Reply(reply.columns, tuple((*row[:at], None, *row[at + 1 :]) for row in reply.rows))


def judged(one: Story, reply: Reply | Answer, case: RecordedVariant | None = None) -> Verdict:
    answer = answer_of(reply) if isinstance(reply, Reply) else reply
    return verdict_on(case or case_of(one), answer)


def test_a_partition_made_after_the_change_has_the_new_list() -> None:
    one = story("insert 1; add f3 after ts; insert 2")
    assert judged(one, cut(one)).reproduces == ()
    reply, whole = cut(one), one.read("name")
    rows = [cut if cut[0] == "1" else row for cut, row in zip(reply.rows, whole.rows, strict=True)]
    assert judged(one, Reply(reply.columns, tuple(rows))).reproduces == LISTED


def test_after_a_refused_write_no_list_is_known() -> None:
    case = case_of(story())
    refused = replace(case.states[3].outcome, kind=OutcomeKind.REFUSED)
    states = (*case.states[:3], replace(case.states[3], outcome=refused), case.states[4])
    assert Expectations(case).layout(4, "snapshot").catalog.partitions is not None
    after = Expectations(replace(case, states=states))
    assert after.layout(2, "snapshot").catalog.partitions is not None
    assert after.layout(4, "snapshot").catalog.partitions is None


@pytest.mark.parametrize(("name", "value", "lost"), [("p", "x", ("id",)), ("g", None, ("id", "g"))])
def test_rows_of_which_only_the_partition_or_nothing_is_left_are_those_of_the_table(
    name: str, value: str | None, lost: Sequence[str]
) -> None:
    # Ways that differ in columns that were not asked for tell the same.
    one = story("row id=1 p=x; row id=2 p=x; add f3 after ts; row id=4 p=y; rename f1 g")
    case = case_of(one, bare=True)
    states = tuple(replace(state, bare=state.outcome.step in {1, 2}) for state in case.states)
    whole = one.read()
    at = [whole.names.index(column) for column in ("id", name)]
    (last,) = (tuple(row[n] for n in at) for row in whole.rows if row[0] == "4")
    rows = ((None, value), (None, value), last)
    part = Part(name, "select", tuple(whole.columns[n] for n in at), rows)
    refused = Answer("", "select", refusal=Refusal("Error", "no"), parts=(part,))
    verdict = judged(one, refused, replace(case, states=states))
    wrong = {(p.key, p.column): f.kind for f in verdict.findings for p in f.witnesses if p.key}
    assert wrong == {(key, column): FindingKind.LOST_VALUE for key in ("1", "2") for column in lost}
