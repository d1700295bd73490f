"""A whole run of a plan on real engines: written, read and judged."""

from __future__ import annotations

import datetime
from pathlib import Path

from harness import pipeline, run
from harness.cells import Plan
from harness.progress import Progress
from harness.run import Run
from harness.runtimes.cache import Cache


def done(plan: Plan, folder: Path, cache: Cache, progress: Progress) -> Run:
    """Do the run in an empty folder; every question is asked anew."""
    work = pipeline.Work(cache, folder, progress)
    started = datetime.datetime.now(datetime.UTC)
    run.write_info(folder, pipeline.info_of(plan, folder.name, started))
    pipeline.fetch_all(pipeline.needed(plan), cache, progress)
    pipeline.write_states(plan, work)
    pipeline.read_answers(plan, work, fresh=True)
    pipeline.judge_run(folder)
    return run.load(folder)
