"""What real engines answered to what was written since a step is what is worked out of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.core.records import labelled
from harness.judge.expectations import Expectations
from harness.model.commit import INCREMENTAL
from harness.model.past_views import name_of
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from tests.builders import recordings, replay
from tests.builders.recordings import Recorded

ROOT = Path(__file__).parent / "time_travel"


def explained(recorded: Recorded) -> Iterator[tuple[str, bool]]:
    """Yield for each right answer whether a flawless reader gives it."""
    expectations = Expectations(replay.case_of(recorded))
    for cell, answer in recorded.answers.items():
        right = recorded.verdicts.get(cell, {}).get("verdict") == "correct"
        if answer and right and name_of(cell.view) == INCREMENTAL:
            layout = expectations.layout(cell.step, cell.view)
            names = [column.name for column in labelled(answer.question, answer.columns)]
            _, ways = layout.fitting(answer.question, names, answer.rows)
            yield cell.case, ReadStrategy(ColumnMapping.ID) in ways


def test_every_right_answer_is_given_by_a_reader_that_errs_in_nothing() -> None:
    variants = (
        recording for folder in recordings.folders(ROOT) for recording in recordings.read(folder)
    )
    explanations = dict(pair for variant in variants for pair in explained(variant))
    assert len(explanations) > 500
    assert [case for case, given in explanations.items() if not given] == []
