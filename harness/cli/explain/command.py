"""`harness explain`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from harness import formats
from harness.artifacts.cache import Cache
from harness.cli import options
from harness.cli.console.output import OUT, Output
from harness.cli.explain import show, show_tables
from harness.cli.explain.recorded_cell import RecordedCell, find
from harness.cli.explain.tables import read_at_all, standard_of, tables_of
from harness.cli.open_run import looked_at
from harness.judge.recorded_variant import view_of_rows
from harness.judge.verdicts import understand_cell
from harness.reports import html
from harness.reports.html_cells import number_files
from harness.reports.html_page import cell_address
from harness.reports.lines import command, say
from harness.reports.words import NOT_WORDED, worded
from harness.run.run_folder import LATEST_RUN
from harness.write import state_store

Section = Callable[[RecordedCell, Console], None]
"""A part of what is printed of a case."""


def explain(
    case: options.CaseArgument,
    run_dir: options.OldRunOption = LATEST_RUN,
    verbose: options.VerboseOption = False,
) -> None:
    """Show one case in full: expected, answered, what each way of reading gives, and the files."""
    with (
        Output(verbose=verbose).ending(),
        looked_at(run_dir, f"explain {' '.join(case)}") as folder,
    ):
        found = find(folder, case)
        tell(found, OUT)
        on_the_timeline(found, OUT)
        on_page(folder, found, OUT)


def on_page(folder: Path, found: RecordedCell, out: Console) -> None:
    """Print the address of the cell on the run's page, where that was written."""
    page = folder / html.FILE
    if page.exists():
        say(out, "\nOn the page", "bold")
        command(out, cell_address(page, found.cell.case))


def tell(found: RecordedCell, out: Console) -> None:
    """Print all there is to say of a case; of what cannot be worded, that it cannot."""
    for section in (show.head, show.written, show.answered, _on_the_table):
        if not worded(found.cell.case, partial(_print, section, found, out), instead=False):
            say(out, NOT_WORDED)


def _print(section: Section, found: RecordedCell, out: Console) -> bool:
    section(found, out)
    return True


def on_the_timeline(found: RecordedCell, out: Console) -> None:
    """Print the timeline of the frozen table, where the cache still has it."""
    record = found.case.state_of.get(found.cell.step)
    table = state_store.table(Cache.default(), record.digest) if record and record.digest else None
    if table is not None:
        shape = formats.load(found.info.variants[0].format)
        show.timeline(shape.timeline(table), found, out)


def _on_the_table(found: RecordedCell, out: Console) -> None:
    """Print what can be told where the table's state is known: tables, findings, files, advice."""
    standard, cell = standard_of(found), found.cell
    if standard is None:
        say(out, "nothing was recorded of the table after this step")
        return
    layout = standard.layout(cell.step, cell.view)
    files = number_files(layout.files, layout.steps)
    if found.answer is not None and not (found.answer.unknown or found.answer.void):
        taken = understand_cell(cell, standard, found.answer)
        told = tables_of(layout, taken)
        show_tables.tables(told, out)
        if found.verdict is not None:
            show.findings(found.verdict, files, out)
        show_tables.ways(told, out)
    show.files(layout, files, read_at_all(layout), out)
    show.held(standard.agreement(cell.step, view_of_rows(cell.view)), files, out)
    show.statistics(standard.case.state_of[cell.step].statistics, out)
    show.advised(found, out)
