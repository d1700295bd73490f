"""A run for each side, in a folder of one upgrade; what nobody asked before is asked."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import cache_mark
from harness.artifacts.cache import ENVIRONMENT_VARIABLE
from harness.cli.open_run import Resources
from harness.cli.reproduce import engine_run
from harness.run import load_run, run_folder, second_round
from harness.run.load_run import Run
from harness.run.run_folder import RUNS
from harness.run.run_log import run_log
from harness.runtime import work_folders
from harness.scenario.cells import Plan

NAME: Final = "upgrade"


@dataclass(frozen=True, slots=True)
class UpgradeFolder:
    """Where the runs of an upgrade lie beside each other, and its reports."""

    path: Path
    resources: Resources

    def run(self, plan: Plan, name: str) -> Run:
        """Do a plan in a folder of that name: write, ask and judge what is not known yet."""
        folder = self.path / name
        run_folder.make(folder)
        work = self.resources.work(folder)
        with run_folder.locked(folder), run_log(folder):
            engine_run.execute(plan, work)
            second_round.judge(plan, work)
        return load_run.load(folder)


@contextmanager
def upgrade_folder(resources: Resources) -> Iterator[UpgradeFolder]:
    """Make the folder of an upgrade; who interrupts it begins again, and no answer is lost."""
    work_folders.check(RUNS, "the folder that you are in")
    work_folders.check(resources.cache.root, ENVIRONMENT_VARIABLE)
    cache_mark.check(resources.cache)
    now = datetime.datetime.now(datetime.UTC)
    yield UpgradeFolder(run_folder.new_folder(RUNS, NAME, now).resolve(), resources)
