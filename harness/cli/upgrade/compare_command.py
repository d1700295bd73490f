"""`harness compare`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options, runs
from harness.cli.output import Output
from harness.cli.upgrade.command import AcceptOption, AllowPartialOption, accepted_lines
from harness.cli.upgrade.finish import finish
from harness.comparison.history import USUAL
from harness.comparison.result import ComparedSide, compare
from harness.run import load_run
from harness.run.baseline_files import today


@options.with_output
def compare_runs(
    output: Output,
    old: Annotated[Path, typer.Argument(help="The folder of the run before, or its stored name.")],
    new: Annotated[Path, typer.Argument(help="The folder of the run after, or its stored name.")],
    accept: AcceptOption = None,
    allow_partial: AllowPartialOption = False,
    history: options.HistoryFileOption = USUAL,
) -> int:
    """Show what is different between two runs, check by check; start no engine.

    A stored run (harness history list) needs no folder: it is restored under runs/.
    """
    accepted = accepted_lines(accept)
    before, after = (runs.stored_or_folder(run, history) for run in (old, new))
    was = load_run.load(before)
    now = load_run.load(after, beside=was)
    comparison = compare(ComparedSide(was.info.id, was), ComparedSide(now.info.id, now))
    comparison = replace(comparison.accepting(accepted, today()), partial_allowed=allow_partial)
    return finish(comparison, now.folder, output)
