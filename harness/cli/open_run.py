"""A run is opened to be worked on: begun in a folder of its own, or gone on with."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.artifacts import cache_mark
from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from harness.cli.console.output import Voice
from harness.read.reader_servers import TIMEOUT_S
from harness.run import pipeline, plan_record, run_folder, run_info
from harness.run.run_folder import RUNS
from harness.runtime import work_folders
from harness.scenario.cells import Plan
from harness.write import writer_pool


@dataclass(frozen=True, slots=True)
class Means:
    """What a command works with."""

    voice: Voice
    cache: Cache
    timeout_s: float = TIMEOUT_S
    write_timeout_s: float = writer_pool.TIMEOUT_S

    def check(self, folder: Path) -> None:
        """Check that tables can be written in a run's folder, and kept in what is a cache."""
        work_folders.check(folder, "--run-dir")
        work_folders.check(self.cache.root, ENVIRONMENT_VARIABLE)
        cache_mark.check(self.cache)

    def work(self, folder: Path) -> pipeline.Work:
        """Return what the phases of a run need."""
        # Servers run in folders of their own, where a relative path would mean another place.
        told, times = self.voice.progress(), (self.timeout_s, self.write_timeout_s)
        return pipeline.Work(self.cache, folder.resolve(), told, *times)


@contextmanager
def begun(
    made: Plan, run_dir: Path | None, means: Means, *, fresh: bool = False
) -> Iterator[pipeline.Work]:
    """Begin a run; its plan is written down before anything starts."""
    started = datetime.datetime.now(datetime.UTC)
    means.check(run_dir or RUNS)
    if run_dir is not None:
        run_folder.check_new(run_dir)
    folder = run_folder.new_folder(RUNS, made.profile, started) if run_dir is None else run_dir
    run_folder.make(folder)
    with run_folder.locked(folder), means.voice.telling(folder.resolve()):
        run_folder.check_new(folder)  # another harness may have been first
        info = plan_record.info_of(made, folder.name, started, fresh=fresh)
        run_info.write_info(folder, info)
        if run_dir is None:
            run_folder.point_begun(folder)
        work = means.work(folder)
        pipeline.clean(work)
        yield work
        run_folder.show(folder)


@contextmanager
def resumed(run_dir: Path, means: Means) -> Iterator[pipeline.Work]:
    """Go on with a run that is there."""
    folder = run_folder.existing(run_dir)
    means.check(folder)
    run_info.read_info(folder)
    with run_folder.locked(folder), means.voice.telling(folder):
        work = means.work(folder)
        work.progress.note(f"go on with {folder}")
        pipeline.clean(work)
        yield work
        run_folder.show(folder)
