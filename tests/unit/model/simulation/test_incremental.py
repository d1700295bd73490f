"""What was written since a step, worked out of files: rows by when these say it was."""

from collections import Counter
from dataclasses import replace

import pytest

from harness.model.canonical import text_of
from harness.model.query import ALL
from harness.model.simulation.column_resolution import LayoutError
from harness.model.simulation.incremental import Commits, Since
from harness.model.simulation.reader import Readings, Simulation
from harness.model.simulation.strategies import ColumnMapping, IncrementalRange, Logs, ReadStrategy
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import Story, history

STORY = "insert 1..4; upsert 2; rename f1 g; upsert 2,5; delete 3; add f3 int; upsert 1; insert 6"


def commits_of(story: Story) -> Commits:
    files = story.disk.until(story.truth.step)
    return {file.fact(): [file.commits[key] for key in file.records] for file in files}


def readings(story: Story, step: int, commits: Commits | None = None) -> Readings:
    since = Since(step, story.steps, commits_of(story) if commits is None else commits)
    return Readings(Simulation(story.history, story.facts, story.steps, since=since))


def shown(story: Story, step: int, strategy: ReadStrategy) -> Counter[str]:
    return Counter(row.key for row in readings(story, step).reading.rows(strategy))


def written(story: Story, after: int) -> Counter[str]:
    before = story.history[after].rows if after >= 0 else {}
    return Counter(text_of(k) for k, row in story.truth.rows.items() if before.get(k) != row)


@pytest.mark.parametrize("seed", range(8))
def test_a_reader_gives_the_rows_written_since_and_one_that_errs_others(seed: int) -> None:
    story = story_of_seed(seed)
    for step in range(story.truth.step):
        since = readings(story, step)
        tried = {strategy.incremental for strategy in since.strategies(ALL)}
        right = written(story, step)
        for given, expected in (
            (IncrementalRange.SINCE, right),
            (IncrementalRange.ALL, written(story, -1)),
            (IncrementalRange.EARLIER, written(story, step - 1)),
            (IncrementalRange.LATER, written(story, step + 1)),
            (IncrementalRange.NOTHING, Counter()),
        ):
            strategy = ReadStrategy(ColumnMapping.ID, incremental=given)
            assert Counter(row.key for row in since.reading.rows(strategy)) == expected
            assert given in tried or expected == right or not step


def test_the_next_step_that_made_an_instant_is_the_one_that_is_left_out() -> None:
    story = history("insert 1,2; add f3 int; upsert 1; upsert 2")
    made = {instant: step for instant, step in story.steps.items() if step != 2}
    row = next(row for row in story.truth.rows.values() if text_of(row.key) == "1")
    for steps, given in ((story.steps, True), (made, False)):
        since = Since(1, steps, {})
        dated = replace(row, values={**row.values, -1: instant_of(3)})
        assert since.gives(dated, IncrementalRange.LATER) is given


def test_the_version_that_a_reader_sees_decides() -> None:
    story = history("insert 1,2; insert 3; upsert 1; delete 2", mor=True)
    assert shown(story, 1, ReadStrategy(ColumnMapping.ID)) == {"1": 1, "3": 1}
    assert shown(story, 1, ReadStrategy(ColumnMapping.ID, Logs.IGNORED)) == {"3": 1}
    undeleted = shown(story, 0, ReadStrategy(ColumnMapping.ID, Logs.UNDELETED))
    assert undeleted == {"1": 1, "2": 1, "3": 1}


def test_of_any_other_view_all_rows_are_given() -> None:
    story = history(STORY)
    whole = Readings(Simulation(story.history, story.facts, story.steps))
    assert {strategy.incremental for strategy in whole.strategies(ALL)} == {IncrementalRange.SINCE}
    assert len(whole.answer(ReadStrategy(ColumnMapping.ID), ALL)) == len(story.truth.rows)


def test_what_files_say_counts_whatever_the_model_would() -> None:
    story = history(STORY)
    newest = {fact: [fact.instant] * len(fact.keys) for fact in story.facts}
    rows = readings(story, 4, newest).reading.rows(ReadStrategy(ColumnMapping.ID))
    assert {row.key for row in rows} > set(written(story, 4))


@pytest.mark.parametrize("commit", [(), ("20240001",), ("20240001", "1999")])
def test_where_a_file_does_not_say_when_its_rows_were_committed_nothing_is_reported(
    commit: tuple[str, ...],
) -> None:
    story = history("insert 1,2; insert 3")
    commits = commits_of(story)
    first = next(fact for fact in story.facts if len(fact.keys) == 2)
    with pytest.raises(LayoutError, match="committed"):
        readings(story, 1, {**commits, first: commit})
