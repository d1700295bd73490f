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
    cells = tuple(chain.from_iterable(each.answers for each in recorded))
    readers = tuple(map(parse_reader, dict.fromkeys(cell.reader for cell in cells)))
    plan = Plan(name.replace("_", "-"), tuple(each.variant for each in recorded), readers, cells)
    all_answers = chain.from_iterable(each.answers.items() for each in recorded)
    answers = {cell.case: each for cell, each in all_answers if each is not None}
    verdicts = (judge(replay.case_of(each), tuple(each.answers), answers) for each in recorded)
    return Run(
        folder=Path("recorded", name),
        info=plan_record.info_of(plan, f"recorded-{plan.profile}", STARTED),
        states=tuple(chain.from_iterable(each.states for each in recorded)),
        answers=answers,
        recorded={each.case: each for each in chain.from_iterable(verdicts)},
    )
