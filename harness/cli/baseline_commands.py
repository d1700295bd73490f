"""`harness baseline`."""

import typer

from harness.cli import options
from harness.cli.output import Output, say
from harness.cli.runs import looked_at
from harness.core.errors import EnvironmentProblem
from harness.core.texts import counted
from harness.run import pipeline
from harness.run.run_folder import LATEST_RUN

app = typer.Typer(no_args_is_help=True)


@app.command()
def update(
    run_dir: options.OldRunOption = LATEST_RUN, verbose: options.VerboseOption = False
) -> None:
    """Write what a run shows into <scenario>.known.yaml beside each scenario, for review.

    The exit status is 3 if the run has unknown checks, about which nothing can be written.
    """
    with Output(verbose=verbose).ending(), looked_at(run_dir, "baseline update") as folder:
        updated = pipeline.update_baselines(folder)
    for path in updated.changed:
        done = "written" if path.exists() else "removed: nothing is wrong in this scenario any more"
        say(f"{path}: {done}")
    if updated.changed:
        say("review them, replace each TODO by the reason, then: harness judge")
    elif not updated.unknown:
        say("every baseline already says what this run shows")
    if updated.unknown:
        checks = counted(updated.unknown, "check is", "checks are")
        next_ = "use harness run --resume, or run again, then update"
        say(f"{checks} unknown, so nothing is written about them: {next_}")
        raise typer.Exit(EnvironmentProblem.exit_status)
