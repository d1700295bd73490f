from dataclasses import replace
from typing import Final

import pytest

from harness.core.records import (
    HALF_DONE,
    Column,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    Responsible,
    StateRecord,
    VerdictKind,
)
from harness.judge.recorded_variant import RecordedVariant
from harness.model.query import Query
from tests.builders import random_story
from tests.builders.judged_story import blamed, case_of, judged, with_last, without_rows
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

SEEDS = range(8)
ERROR: Final = Refusal("HoodieMetaSyncException", "Could not sync")
LATE: Final = ("901", "902")
FOLDER: Final = "p=late"


def story(seed: int, *, applied: bool = True) -> Story:
    """Let a history end with an insert of two rows."""
    plot = random_story.plot(seed)
    steps = f"{plot.steps}; insert {','.join(LATE)}"
    done = [*[True] * steps.count(";"), applied]
    by = plot.partition_by
    return history(steps, plot.columns, mor=plot.mor, partition_by=by, applied=done)


def half_done(planted: Story) -> RecordedVariant:
    """Return the records of a history whose last write was committed before its writer failed.

    The catalog was not told of the partition of its rows.
    """
    case = case_of(planted)
    last = case.states[-1]
    written = {file.path for file in last.files if file.instant == last.outcome.instant}
    files = [
        replace(file, path=f"{FOLDER}/{file.path}" if file.path in written else file.path)
        for file in last.files
    ]
    outcome = replace(last.outcome, refusal=ERROR)
    state = replace(last, outcome=outcome, files=tuple(files), unlisted=(FOLDER,))
    return with_last(case, state)


def refused(planted: Story) -> RecordedVariant:
    case = case_of(planted)
    last = case.states[-1]
    outcome = Outcome(
        last.outcome.step, OutcomeKind.REFUSED, refusal=ERROR, statements=last.outcome.statements
    )
    return with_last(case, replace(last, outcome=outcome))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_the_catalog_was_not_told_of_are_lost_by_the_writer(seed: int) -> None:
    planted_story = story(seed)
    whole, key = planted_story.read(), planted_story.disk.table.key
    step, by_catalog, by_timeline = judged(
        half_done(planted_story), [without_rows(whole, LATE, key), whole]
    )
    assert (by_catalog.verdict, by_timeline.verdict) == (VerdictKind.WRONG, VerdictKind.CORRECT)
    assert blamed(by_catalog) == {(FindingKind.LOST_ROW, Responsible.CATALOG)}
    assert {witness.key for witness in by_catalog.findings[0].witnesses} == set(LATE)
    assert (step.view, step.verdict) == ("write", VerdictKind.REFUSED)
    assert step.because.startswith(f"{HALF_DONE}: {ERROR.kind}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_partition_that_the_entry_asked_lists_is_hidden_from_nobody_by_another_entry(
    seed: int,
) -> None:
    planted_story = story(seed)
    case = half_done(planted_story)
    entries = (("snapshot", ()), ("read_optimized", (FOLDER,)))
    case = with_last(case, replace(case.states[-1], unlisted_at=entries))
    reply = without_rows(planted_story.read(), LATE, planted_story.disk.table.key)
    _, verdict = judged(case, [reply])
    assert blamed(verdict) == {(FindingKind.LOST_ROW, Responsible.READER)}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reader_that_shows_one_of_these_rows_lost_the_other_itself(seed: int) -> None:
    planted_story = story(seed)
    reply = without_rows(planted_story.read(), LATE[:1], planted_story.disk.table.key)
    _, verdict = judged(half_done(planted_story), [reply])
    assert blamed(verdict) == {(FindingKind.LOST_ROW, Responsible.READER)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("lost", "responsible"), [(2, Responsible.CATALOG), (1, Responsible.READER)]
)
def test_a_count_is_the_writers_where_just_these_rows_are_missing(
    seed: int, lost: int, responsible: Responsible
) -> None:
    planted_story = story(seed)
    count = Reply((Column("count", "bigint", "long"),), ((len(planted_story.truth.rows) - lost,),))
    _, verdict = judged(half_done(planted_story), [count], query=Query(count=True))
    assert blamed(verdict) == {(FindingKind.LOST_ROW, responsible)}


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_a_write_that_failed_before_its_commit_are_not_to_be_there(seed: int) -> None:
    as_if = story(seed).read()
    planted_story = story(seed, applied=False)
    _, right, wrong = judged(refused(planted_story), [planted_story.read(), as_if])
    assert (right.verdict, wrong.verdict) == (VerdictKind.CORRECT, VerdictKind.WRONG)
    assert {responsible for _, responsible in blamed(wrong)} == {Responsible.READER}


@pytest.mark.parametrize("seed", SEEDS)
def test_where_a_part_may_be_there_nothing_is_right_or_wrong(seed: int) -> None:
    planted_story = story(seed)
    case = case_of(planted_story)
    last = case.states[-1]
    outcome = Outcome(last.outcome.step, OutcomeKind.UNKNOWN, because="a part was committed")
    case = with_last(case, StateRecord("variant", outcome, ""))
    whole = planted_story.read()
    found_of_both = judged(case, [whole, without_rows(whole, LATE, planted_story.disk.table.key)])
    assert {verdict.verdict for verdict in found_of_both} == {VerdictKind.UNKNOWN}
    assert all(verdict.because.endswith("a part was committed") for verdict in found_of_both)
