"""A run is opened: begun in a folder of its own, resumed, or looked at."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.cli.console.output import Output
from harness.run import load_run, pipeline, plan_record, run_folder
from harness.run.pipeline import TimeLimits, Work
from harness.run.run_folder import RUNS
from harness.run.run_log import phase, run_log
from harness.runtime import work_folders
from harness.scenario.cells import Plan


@dataclass(frozen=True, slots=True)
class Resources:
    """What a command works with."""

    output: Output
    cache: Cache
    limits: TimeLimits = field(default_factory=TimeLimits)

    def check(self, folder: Path) -> None:
        """Check that tables can be written in a run's folder, and kept in what is a cache."""
        work_folders.check(folder, "--run-dir")
        work_folders.check(self.cache.root, ENVIRONMENT_VARIABLE)
        self.cache.check()

    def work(self, folder: Path) -> Work:
        """Return what the phases of a run need."""
        # Servers run in folders of their own, where a relative path would mean another place.
        return Work(self.cache, folder.resolve(), self.output.progress(), self.limits)


@contextmanager
def begun(
    made: Plan, run_dir: Path | None, resources: Resources, *, fresh: bool = False
) -> Iterator[Work]:
    """Begin a run; its plan is written down before anything starts."""
    started = datetime.datetime.now(datetime.UTC)
    resources.check(run_dir or RUNS)
    if run_dir is not None:
        run_folder.check_new(run_dir)
    folder = run_folder.new_folder(RUNS, made.profile, started) if run_dir is None else run_dir
    run_folder.make(folder)
    with run_folder.locked(folder), resources.output.working_on(folder.resolve()):
        run_folder.check_new(folder)  # another harness may have been first
        info = plan_record.info_of(made, folder.name, started, fresh=fresh)
        load_run.write_info(folder, info)
        if run_dir is None:
            run_folder.point_begun(folder)
        with _worked_on(folder, resources) as work:
            for line in made.chosen:
                work.progress.note(line)
            yield work


@contextmanager
def resumed(run_dir: Path, resources: Resources) -> Iterator[Work]:
    """Go on with a run that is there."""
    folder = run_folder.existing(run_dir)
    resources.check(folder)
    load_run.read_info(folder)
    working = resources.output.working_on(folder)
    with run_folder.locked(folder), working, _worked_on(folder, resources) as work:
        work.progress.note(f"go on with {folder}")
        yield work


@contextmanager
def looked_at(run_dir: Path, what: str) -> Iterator[Path]:
    """Yield the whole path of a run's folder; its log has `what` is done with what was recorded.

    Nobody is kept from working on the run meanwhile: no record of it is changed.
    """
    folder = run_folder.existing(run_dir)
    load_run.check(folder)  # in a folder that is no run not even a log is left
    with run_log(folder), phase(what):
        yield folder


@contextmanager
def _worked_on(folder: Path, resources: Resources) -> Iterator[Work]:
    with run_log(folder):
        work = resources.work(folder)
        pipeline.clean(work)
        yield work
        run_folder.show(folder)
