"""What was written since a step, worked out of files: rows by when these say it was."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from harness.model.canonical import text_of
from harness.model.query import ALL
from harness.model.simulation.column_resolution import LayoutError
from harness.model.simulation.incremental import Commits, Since
from harness.model.simulation.matching import Readings, table_of
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import By, Given, Logs, Way
from tests.quality.chance import story
from tests.quality.notation import Told, history
from tests.simulated_disk import instant_of

STORY = "insert 1..4; upsert 2; rename f1 g; upsert 2,5; delete 3; add f3 int; upsert 1; insert 6"


def commits_of(told: Told) -> Commits:
    files = told.disk.until(told.truth.step)
    return {file.fact(): [file.commits[key] for key in file.records] for file in files}


def readings(told: Told, step: int, commits: Commits | None = None) -> Readings:
    since = Since(step, told.steps, commits_of(told) if commits is None else commits)
    return Readings(Simulation(told.history, told.facts, told.steps, since=since))


def shown(told: Told, step: int, way: Way) -> Counter[str]:
    return Counter(row.key for row in readings(told, step).reading.rows(way))


def written(told: Told, after: int) -> Counter[str]:
    before = told.history[after].rows if after >= 0 else {}
    return Counter(text_of(k) for k, row in told.truth.rows.items() if before.get(k) != row)


@pytest.mark.parametrize("seed", range(40))
def test_a_reader_that_errs_in_nothing_gives_the_rows_written_since_and_no_other(seed: int) -> None:
    told = story(seed)
    for step in range(told.truth.step):
        assert shown(told, step, Way(By.ID)) == written(told, step)
        assert shown(told, step, Way(By.ID, given=Given.ALL)) == written(told, -1)
        assert shown(told, step, Way(By.ID, given=Given.EARLIER)) == written(told, step - 1)
        assert shown(told, step, Way(By.ID, given=Given.LATER)) == written(told, step + 1)
        assert not shown(told, step, Way(By.ID, given=Given.NOTHING))


@pytest.mark.parametrize("seed", range(40))
def test_a_way_to_give_other_rows_is_tried_just_where_these_may_be_others(seed: int) -> None:
    told = story(seed)
    for step in range(1, told.truth.step):
        of = readings(told, step)
        tried = {way.given for way in of.ways(ALL)}
        names = told.truth.schema.names
        right = table_of(names, of.answer(Way(By.ID), ALL))
        for given in Given:
            other = table_of(names, of.answer(Way(By.ID, given=given), ALL)) != right
            assert given in tried or not other


def test_the_next_step_that_made_an_instant_is_the_one_that_is_left_out() -> None:
    told = history("insert 1,2; add f3 int; upsert 1; upsert 2")
    made = {instant: step for instant, step in told.steps.items() if step != 2}
    row = next(row for row in told.truth.rows.values() if text_of(row.key) == "1")
    for steps, given in ((told.steps, True), (made, False)):
        since = Since(1, steps, {})
        dated = replace(row, values={**row.values, -1: instant_of(3)})
        assert since.gives(dated, Given.LATER) is given


def test_the_version_that_a_reader_sees_decides() -> None:
    told = history("insert 1,2; insert 3; upsert 1; delete 2", mor=True)
    assert shown(told, 1, Way(By.ID)) == {"1": 1, "3": 1}
    assert shown(told, 1, Way(By.ID, Logs.IGNORED)) == {"3": 1}
    assert shown(told, 0, Way(By.ID, Logs.UNDELETED)) == {"1": 1, "2": 1, "3": 1}


def test_of_any_other_view_all_rows_are_given() -> None:
    told = history(STORY)
    of = Readings(Simulation(told.history, told.facts, told.steps))
    assert {way.given for way in of.ways(ALL)} == {Given.SINCE}
    assert len(of.answer(Way(By.ID), ALL)) == len(told.truth.rows)


def test_what_files_say_counts_whatever_the_model_would() -> None:
    told = history(STORY)
    newest = {fact: [fact.instant] * len(fact.keys) for fact in told.facts}
    keys = {row.key for row in readings(told, 4, newest).reading.rows(Way(By.ID))}
    assert keys > set(written(told, 4))


@pytest.mark.parametrize("said", [(), ("20240001",), ("20240001", "1999")])
def test_where_a_file_does_not_say_when_its_rows_were_committed_nothing_is_told(
    said: tuple[str, ...],
) -> None:
    told = history("insert 1,2; insert 3")
    commits = commits_of(told)
    first = next(fact for fact in told.facts if len(fact.keys) == 2)
    with pytest.raises(LayoutError, match="committed"):
        readings(told, 1, {**commits, first: said})
