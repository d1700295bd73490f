"""A recording as a run, judged by the checks of today: what reports and comparisons are made of."""

from __future__ import annotations

import datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from harness.judge.verdicts import judge
from harness.run import plan_record
from harness.run.load_run import Run
from harness.scenario.cells import Plan, parse_reader
from tests.builders import recordings, replay

FOLDER: Final = Path(__file__).parents[1] / "recorded"
RECORDED: Final = FOLDER / "findings_a5"
"""The folder of a run that is replayed whole."""
STARTED: Final = datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)


@cache
def run_of(name: str) -> Run:
    """Return the run of that recording; baselines have no say. It has no folder."""
    recorded = recordings.read_all(FOLDER / name)
    cells = tuple(chain.from_iterable(record.answers for record in recorded))
    readers = tuple(map(parse_reader, dict.fromkeys(cell.reader for cell in cells)))
    plan = Plan(
        name.replace("_", "-"), tuple(record.variant for record in recorded), readers, cells
    )
    all_answers = chain.from_iterable(record.answers.items() for record in recorded)
    answers = {cell.case: all_answer for cell, all_answer in all_answers if all_answer is not None}
    verdicts = (
        judge(replay.case_of(record), tuple(record.answers), answers) for record in recorded
    )
    return Run(
        folder=Path("recorded", name),
        info=plan_record.info_of(plan, f"recorded-{plan.profile}", STARTED),
        states=tuple(chain.from_iterable(record.states for record in recorded)),
        answers=answers,
        recorded={each.case: each for each in chain.from_iterable(verdicts)},
    )
