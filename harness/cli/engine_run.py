"""A plan that a command makes on its own becomes a separate run, whose records stay."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.core.progress import Progress
from harness.run import load_run, pipeline, plan_record, run_folder
from harness.run.load_run import Run
from harness.run.pipeline import Work
from harness.run.run_folder import RUNS
from harness.run.run_judge import LiveVerdicts
from harness.run.run_log import run_log
from harness.runtime import work_folders
from harness.scenario.cells import Plan


def new_folder(cache: Cache, name: str) -> Path:
    """Make a folder under runs/, once tables can be written there and in the cache."""
    work_folders.check(RUNS, "the folder that you are in")
    work_folders.check(cache.root, ENVIRONMENT_VARIABLE)
    cache.check()
    now = datetime.datetime.now(datetime.UTC)
    return run_folder.new_folder(RUNS, name, now).resolve()


@contextmanager
def work(cache: Cache, progress: Progress, profile: str) -> Iterator[Work]:
    """Make a run's folder under runs/, and lock it as long as it is worked in."""
    folder = new_folder(cache, profile)
    with run_folder.locked(folder), run_log(folder):
        made = Work(cache, folder, progress)
        pipeline.clean(made)
        yield made


def execute(plan: Plan, work: Work) -> Run:
    """Do the plan: write what is not in the cache, ask what nobody asked before, judge."""
    ask(plan, work)
    pipeline.judge_run(work.folder)
    return load_run.load(work.folder)


def ask(plan: Plan, work: Work, live: LiveVerdicts | None = None) -> None:
    """Write what is not in the cache, and ask what nobody asked before; judge nothing."""
    now = datetime.datetime.now(datetime.UTC)
    load_run.write_info(work.folder, plan_record.info_of(plan, work.folder.name, now))
    pipeline.fetch_plan(plan, work)
    pipeline.write_states(plan, work)
    pipeline.read_answers(plan, work, live, fresh=False)
