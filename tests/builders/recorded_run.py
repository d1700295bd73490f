"""A recording as a run, judged by the checks of today: what reports and comparisons are made of."""

import datetime
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from harness.judge.verdicts import judge
from harness.run import plan_record
from harness.run.load_run import Run
from harness.scenario.cells import Plan, parse_reader
from tests.builders import recordings, replay
from tests.builders.recordings import Recorded

FOLDER: Final = Path(__file__).parents[1] / "recorded"
RECORDED: Final = FOLDER / "findings_a5"
"""The folder of a run that is replayed whole."""
STARTED: Final = datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)


@cache
def run_of(name: str) -> Run:
    """Return the run of that recording; baselines have no say. It has no folder."""
    return judged_run(recordings.read_all(FOLDER / name), name)


def judged_run(recorded: Sequence[Recorded], name: str, readers: Collection[str] = ()) -> Run:
    """Return what readers answered, or all of them, judged by the checks of today."""
    asked = [
        (record, [cell for cell in record.answers if not readers or cell.reader in readers])
        for record in recorded
    ]
    answers = {
        cell.case: answer
        for record, cells in asked
        for cell in cells
        if (answer := record.answers[cell]) is not None
    }
    verdicts = [v for record, cells in asked for v in judge(replay.case_of(record), cells, answers)]
    cells = tuple(cell for _, cells in asked for cell in cells)
    plan = Plan(
        name.replace("_", "-"),
        tuple(record.variant for record in recorded),
        tuple(map(parse_reader, dict.fromkeys(cell.reader for cell in cells))),
        cells,
    )
    return Run(
        folder=Path("recorded", name),
        info=plan_record.info_of(plan, f"recorded-{plan.profile}", STARTED),
        states=tuple(state for record in recorded for state in record.states),
        answers=answers,
        recorded={verdict.case: verdict for verdict in verdicts},
    )
