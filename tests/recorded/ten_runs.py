"""Ten runs made of one recording: what its readers answered, as if asked again from day to day.

The answers are real and are judged by the checks of today; that they were ten runs is made up.
"""

import datetime
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from harness.core import jsonl
from harness.run import load_run
from harness.run.load_run import Run
from tests.builders import recorded_run, recordings
from tests.builders.recordings import Recorded

FULL: Final = Path(__file__).parent / "full" / "hudi"
BEGAN: Final = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
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


def make(folder: Path) -> Iterator[Run]:
    """Yield each run once it is in a folder of its own."""
    for day, readers in enumerate(RUNS):
        run, started = _run(readers), BEGAN + datetime.timedelta(days=day)
        info = replace(run.info, started=started, id=f"{day + 1:02}")
        yield _written(replace(run, info=info), folder)


@cache
def _recorded() -> tuple[Recorded, ...]:
    """Return the tables that every reader of the runs was asked about."""
    every = {reader for readers in RUNS for reader in readers}
    variants = recordings.read_all(FULL / "move")
    return tuple(v for v in variants if every <= {cell.reader for cell in v.answers})


@cache
def _run(readers: tuple[str, ...]) -> Run:
    return recorded_run.judged_run(_recorded(), "ten_runs", readers)


def _written(run: Run, folder: Path) -> Run:
    folder_of_run = folder / run.info.id
    load_run.write_info(folder_of_run, run.info)
    jsonl.write_all(folder_of_run / load_run.STATES, run.states)
    jsonl.write_all(folder_of_run / load_run.ANSWERS, run.answers.values())
    jsonl.write_all(folder_of_run / load_run.VERDICTS, run.recorded.values())
    return replace(run, folder=folder_of_run)
