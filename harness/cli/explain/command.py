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
from harness.cli.explain import show
from harness.cli.explain.recorded_cell import RecordedCell, find
from harness.cli.explain.tables import expectations_of, read_at_all, tables_of
from harness.cli.open_run import looked_at
from harness.judge.recorded_variant import view_of_rows
from harness.judge.verdicts import understand_cell
from harness.reports import html
from harness.reports.html_data import number_files
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
    """Show one case in full: expected, answered, what each read strategy gives, and the files."""
    with (
        Output(verbose=verbose).ending(),
        looked_at(run_dir, f"explain {' '.join(case)}") as folder,
    ):
        recorded = find(folder, case)
        print_case(recorded, OUT)
        print_timeline(recorded, OUT)
        print_address(folder, recorded, OUT)


def print_address(folder: Path, recorded: RecordedCell, out: Console) -> None:
    """Print the address of the cell on the run's page, where that was written."""
    page = folder / html.FILE
    if page.exists():
        say(out, "\nOn the page", "bold")
        command(out, cell_address(page, recorded.cell.case))


def print_case(recorded: RecordedCell, out: Console) -> None:
    """Print all there is to say of a case; of what cannot be worded, that it cannot."""
    for section in (show.head, show.written, show.answered, _table):
        if not worded(recorded.cell.case, partial(_print, section, recorded, out), instead=False):
            say(out, NOT_WORDED)


def _print(section: Section, recorded: RecordedCell, out: Console) -> bool:
    section(recorded, out)
    return True


def print_timeline(recorded: RecordedCell, out: Console) -> None:
    """Print the timeline of the frozen table, where the cache still has it."""
    state = recorded.case.state_of.get(recorded.cell.step)
    table = state_store.table(Cache.default(), state.digest) if state and state.digest else None
    if table is not None:
        table_format = formats.load(recorded.info.variants[0].format)
        show.timeline(table_format.timeline(table), recorded, out)


def _table(recorded: RecordedCell, out: Console) -> None:
    """Print what needs the table's state: tables, findings, files, advice."""
    expectations, cell, answer = expectations_of(recorded), recorded.cell, recorded.answer
    if expectations is None:
        say(out, "nothing was recorded of the table after this step")
        return
    layout = expectations.layout(cell.step, cell.view)
    files = number_files(layout.files, layout.steps)
    if answer is not None and not (answer.unknown or answer.not_applicable):
        tables = tables_of(layout, understand_cell(cell, expectations, answer))
        show.tables(tables, out)
        if recorded.verdict is not None:
            show.findings(recorded.verdict, files, out)
        show.strategies(tables, out)
    show.files(layout, files, read_at_all(layout), out)
    show.agreement(expectations.agreement(cell.step, view_of_rows(cell.view)), files, out)
    show.statistics(expectations.case.state_of[cell.step].statistics, out)
    show.advised(recorded, out)
