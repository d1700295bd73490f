"""A plan that is made on the way is done as a run of its own, whose records stay."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager

from harness import fetching, pipeline, run, run_folder, run_info, run_plan
from harness.cells import Plan
from harness.pipeline import Work
from harness.progress import Progress
from harness.run import Run
from harness.run_folder import RUNS
from harness.runtimes import cache_mark, places
from harness.runtimes.cache import ENVIRONMENT_VARIABLE, Cache


@contextmanager
def work(cache: Cache, progress: Progress, profile: str) -> Iterator[Work]:
    """Make a run's folder under runs/, and hold it as long as it is worked in."""
    places.check(RUNS, "the folder that you are in")
    places.check(cache.root, ENVIRONMENT_VARIABLE)
    cache_mark.check(cache)
    now = datetime.datetime.now(datetime.UTC)
    folder = run_folder.new_folder(RUNS, profile, now).resolve()
    with run_folder.locked(folder):
        made = Work(cache, folder, progress)
        pipeline.clean(made)
        yield made


def done(made: Plan, where: Work) -> Run:
    """Do the plan: write what is not in the cache, ask what nobody asked before, judge."""
    now = datetime.datetime.now(datetime.UTC)
    run_info.write_info(where.folder, run_plan.info_of(made, where.folder.name, now))
    fetching.fetch_all(fetching.needed(made), where.cache, where.progress)
    pipeline.write_states(made, where)
    pipeline.read_answers(made, where, fresh=False)
    pipeline.judge_run(where.folder)
    return run.load(where.folder)
