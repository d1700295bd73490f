"""What real engines answered to what was written since a step is what the model works out of files.

The recording is older than the reading of when rows were committed: here the model says it. That
engines give the rows that it does says that Hudi keeps a row's commit in files that are written
anew, and that readers choose by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.histories import Histories
from harness.layout import Layout
from harness.model.moment import INCREMENTAL
from harness.model.reading import Reading
from harness.model.resolution import version
from harness.model.since import Since
from harness.model.ways import By, Way
from harness.readings import Readings
from harness.record import labelled
from harness.views import name_of
from tests.recorded import replay, store
from tests.recorded.store import Recorded

ROOT = Path(__file__).parent / "time_travel"


def readings(histories: Histories, layout: Layout, step: int) -> Readings:
    instants = {made: instant for instant, made in histories.instants.items()}
    history = layout.world.history
    commits = {
        fact: [
            instants[max(version(history, fact, key, layout.steps).written.values())]
            for key in fact.keys
        ]
        for fact in layout.files
    }
    since = Since(step, layout.steps, commits)
    return Readings(Reading(history, layout.files, layout.steps, since=since))


def explained(recorded: Recorded) -> Iterator[tuple[str, bool]]:
    """Tell of each answer that is right whether a reader that errs in nothing gives it."""
    histories = Histories(replay.case_of(recorded))
    for cell, answer in recorded.answers.items():
        right = recorded.verdicts.get(cell, {}).get("verdict") == "correct"
        back = histories.back(cell.view)
        if answer and back and right and name_of(cell.view) == INCREMENTAL:
            found = readings(histories, histories.layout(cell.step, cell.view), back.step)
            names = [each.name for each in labelled(answer.question, answer.columns)]
            ways = found.fitting(answer.question, names, answer.rows)
            yield cell.case, Way(By.ID) in ways


def test_every_right_answer_is_given_by_a_reader_that_errs_in_nothing() -> None:
    variants = (each for folder in store.folders(ROOT) for each in store.read(folder))
    told = dict(pair for each in variants for pair in explained(each))
    assert len(told) > 500
    assert [case for case, given in told.items() if not given] == []
