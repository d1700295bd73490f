"""A judged run made of a recording, with the answers of some of its readers."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harness.judge.verdicts import judge
from harness.run import plan_record
from harness.run.load_run import Run
from harness.scenario.cells import Plan, parse_reader
from tests.builders import replay
from tests.builders.recordings import Recorded

BEGAN: Final = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def run_of(recorded: Iterable[Recorded], reader: str) -> Run:
    """Return what a reader answered, judged by the checks of today."""
    recorded = tuple(recorded)
    variants = tuple(record.variant for record in recorded)
    cells = tuple(cell for record in recorded for cell in record.answers if cell.reader == reader)
    answers = {
        cell.case: answer
        for record in recorded
        for cell, answer in record.answers.items()
        if cell.reader == reader and answer
    }
    verdicts = [
        verdict
        for record in recorded
        for verdict in judge(
            replay.case_of(record),
            [cell for cell in record.answers if cell.reader == reader],
            answers,
        )
    ]
    info = plan_record.info_of(Plan("p", variants, (parse_reader(reader),), cells), "r", BEGAN)
    states = tuple(state for record in recorded for state in record.states)
    return Run(Path(reader), info, states, answers, {verdict.case: verdict for verdict in verdicts})
