"""A run for each side, in a folder of one upgrade; what nobody asked before is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.cli.open_run import Resources
from harness.cli.reproduce import engine_run
from harness.run import load_run, pipeline, run_folder
from harness.run.load_run import Run
from harness.run.run_log import run_log
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
            live = pipeline.live_verdicts(plan, work)
            engine_run.ask(plan, work, live)
            pipeline.judge_twice(plan, work, live)
        return load_run.load(folder)


def upgrade_folder(resources: Resources) -> UpgradeFolder:
    """Make the folder of an upgrade; who interrupts it begins again, and no answer is lost."""
    return UpgradeFolder(engine_run.new_folder(resources.cache, NAME), resources)
