"""Ten runs made of one recording: what its readers answered, as if asked again from day to day.

    python -m tests.recorded.ten_runs FOLDER

The answers are real and are judged by the checks of today; that they were ten runs is made up.
"""

from __future__ import annotations

import argparse
import datetime
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from harness.cli import runs
from harness.core import jsonl
from harness.judge.verdicts import judge
from harness.run import load_run, plan_record
from harness.run.load_run import Run
from harness.scenario.cells import Plan, parse_reader
from tests.builders import recordings, replay
from tests.builders.recordings import Recorded

FULL: Final = Path(__file__).parent / "full" / "hudi"
BEGAN: Final = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
SCENARIOS: Final = ("a5", "drop_and_readd", "move")
OLD_TRINO, TRINO, BY_POSITION = (
    *(f"trino-{version}{{use-column-names=true}}" for version in ("368", "476")),
    "trino-476{use-column-names=false}",
)
OLD_SPARK, SPARK, PLAIN_SPARK = (
    f"spark-3.5.8-hudi-{version}{{schema-on-read={setting}}}"
    for version, setting in (("1.0.2", "on"), ("1.2.0", "on"), ("1.2.0", "off"))
)
RUNS: Final = (
    (OLD_TRINO, OLD_SPARK),
    (OLD_TRINO, OLD_SPARK),
    (TRINO, OLD_SPARK),
    (TRINO, OLD_SPARK),
    (TRINO, SPARK),
    (OLD_TRINO, SPARK),
    (TRINO, SPARK),
    (BY_POSITION, SPARK),
    (BY_POSITION, PLAIN_SPARK),
    (TRINO, SPARK),
)
"""The readers of each run, which are asked about the same tables."""


def make(folder: Path, scenarios: tuple[str, ...] = SCENARIOS) -> Iterator[Run]:
    """Yield each run once it is in a folder of its own."""
    for day, readers in enumerate(RUNS):
        found = _run(scenarios, readers)
        started, name = BEGAN + datetime.timedelta(days=day), f"{day + 1:02}"
        info = replace(found.info, started=started, id=name)
        yield _written(replace(found, info=info), folder)


@cache
def _recorded(scenario: str) -> tuple[Recorded, ...]:
    """Return the tables that every reader of the runs was asked about."""
    every = {reader for readers in RUNS for reader in readers}
    found = recordings.read_all(FULL / scenario)
    return tuple(each for each in found if every <= {cell.reader for cell in each.answers})


@cache
def _run(scenarios: tuple[str, ...], readers: tuple[str, ...]) -> Run:
    recorded = [each for name in scenarios for each in _recorded(name)]
    answers = {
        cell: answer
        for record in recorded
        for cell, answer in record.answers.items()
        if cell.reader in readers and answer is not None
    }
    said = {cell.case: answer for cell, answer in answers.items()}
    verdicts = [
        verdict
        for record in recorded
        for verdict in judge(
            replay.case_of(record), [cell for cell in record.answers if cell in answers], said
        )
    ]
    variants = tuple(record.variant for record in recorded)
    plan = Plan("ten-runs", variants, tuple(map(parse_reader, readers)), tuple(answers))
    info = plan_record.info_of(plan, "run", BEGAN)
    states = tuple(state for record in recorded for state in record.states)
    return Run(Path(), info, states, said, {verdict.case: verdict for verdict in verdicts})


def _written(run: Run, folder: Path) -> Run:
    own = folder / run.info.id
    load_run.write_info(own, run.info)
    jsonl.write_all(own / load_run.STATES, run.states)
    jsonl.write_all(own / load_run.ANSWERS, run.answers.values())
    jsonl.write_all(own / load_run.VERDICTS, run.recorded.values())
    return replace(run, folder=own)


def main() -> None:
    """Make the runs and keep them."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("folder", type=Path)
    os.chdir(options.parse_args().folder)
    for run in make(Path("runs")):
        runs.store(run, runs.HISTORY_FILE)


if __name__ == "__main__":
    main()
