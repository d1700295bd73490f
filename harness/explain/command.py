"""`harness explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.errors import UsageProblem
from harness.explain import show, show_tables
from harness.explain.found import Found, find
from harness.explain.tables import read_at_all, tables_of, truth_of
from harness.histories import shows
from harness.reports.lines import say
from harness.reports.numbered import numbered
from harness.run_folder import LATEST
from harness.voice import OUT

LATEST_RUN = Path("runs") / LATEST


def explain(
    case: Annotated[
        list[str], typer.Argument(help="A case, or parts of it that no other case has.")
    ],
    run_dir: Annotated[Path, typer.Option("--run-dir", help="The run's folder.")] = LATEST_RUN,
) -> None:
    """Show one case in full: expected, found, what each way of reading gives, and the files."""
    if not run_dir.exists():
        raise UsageProblem(f"there is no run at {run_dir}; make one with: harness run")
    tell(find(run_dir.resolve(), case), OUT)


def tell(found: Found, out: Console) -> None:
    """Print all there is to say of a case."""
    show.head(found, out)
    show.written(found, out)
    show.answered(found.answer, out)
    truth, cell = truth_of(found), found.cell
    if truth is None:
        say(out, "nothing was recorded of the table after this step")
        return
    layout = truth.layout(cell.step, cell.view)
    files = numbered(layout.files, layout.steps)
    if found.answer is not None and not (found.answer.unknown or found.answer.void):
        told = tables_of(layout, found.answer)
        show_tables.tables(told, out)
        if found.verdict is not None:
            show.findings(found.verdict, files, out)
        show_tables.ways(told, out)
    show.files(layout, files, read_at_all(layout), out)
    show.held(truth.beside(cell.step, shows(cell.view)), files, out)
    show.advised(found, out)
