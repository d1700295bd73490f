"""The command about baselines: what is known, written down beside the scenarios."""

from __future__ import annotations

import typer

from harness.cli import options
from harness.cli.console.output import OUT
from harness.core.errors import EnvironmentProblem
from harness.reports.words import counted
from harness.run import pipeline, run_folder
from harness.run.run_folder import LATEST_RUN

app = typer.Typer(no_args_is_help=True, help="The known findings beside the scenarios.")


@app.command()
def update(run_dir: options.OldRun = LATEST_RUN) -> None:
    """Write what a run shows into <scenario>.known.yaml beside each scenario, for review.

    Status 3 where cells of the run are unknown: what they would show is not learnt.
    """
    updated = pipeline.update_baselines(run_folder.existing(run_dir))
    for path in updated.changed:
        done = "written" if path.exists() else "removed, nothing is known any more"
        OUT.print(f"{path}: {done}", highlight=False, markup=False, soft_wrap=True)
    if updated.changed:
        OUT.print("review them, say why in place of each TODO, then: harness judge")
    elif not (updated.unexplained or updated.unknown):
        OUT.print("every baseline says already what this run shows")
    if updated.unexplained:
        cells = counted(updated.unexplained, "cell is", "cells are")
        OUT.print(f"{cells} unexplained and cannot be known: harness explain tells of each")
    if updated.unknown:
        cells = counted(updated.unknown, "cell is", "cells are")
        next_ = "go on with harness run --resume, or run again, then update"
        OUT.print(f"{cells} unknown, so nothing is learnt of them: {next_}", soft_wrap=True)
        raise typer.Exit(EnvironmentProblem.exit_status)
