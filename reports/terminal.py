"""The report for a terminal: how each reader fared, what breaks, and every answer step by step.

Everything is said in words; colour only repeats it, and only on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from harness.core.grouping import grouped
from harness.reports import run_report
from harness.reports.cause_texts import DEFAULT, CauseText, cause_texts
from harness.reports.document import Code, Item, Items, Line
from harness.reports.legend import legend, short_names
from harness.reports.lines import WIDTH, say
from harness.reports.lines import render as render_document
from harness.reports.matrices import counts, matrices
from harness.reports.page_address import cause_address
from harness.reports.scoreboard import Score, scoreboard
from harness.run.load_run import Run

NAME: Final = "terminal"
FILE: Final = "report.txt"
MANY: Final = 20
"""Of more variants than these, only counts are shown; the HTML report has every matrix."""


def write(run: Run, folder: Path) -> Path:
    """Write the report as plain text, `report.txt`."""
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(run, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(run: Run, console: Console, html: Path | None = None) -> None:
    """Print the report; `html` is where the HTML report lies, when there is one."""
    labels, scores = short_names(run), scoreboard(run)

    def cause_blocks(text: CauseText, number: int) -> tuple[Line | Code, ...]:
        address = (Code(cause_address(html, number)),) if html else ()
        return (*run_report.cause_lines(text), *address)

    head = Line(strong=f"Run {run.info.id}, profile {run.info.profile}")
    notes = Items(tuple(Item(Line(note)) for note in _notes(scores)))
    causes = run_report.causes(cause_texts(run), cause_blocks)
    render_document([head, run_report.scores(scores, "-"), notes, *causes], console)
    if len(run.info.variants) > MANY:
        counts(run, console)
    else:
        matrices(run, labels, console)
    legend(run, labels, console)
    render_document([*run_report.steps(run), *run_report.coverage(run)], console)
    say(console, "")
    render_document(run_report.totals(run), console)
    if html:
        say(console, f"Every cell with its tables, SQL and files: {html}")


def _notes(scores: Sequence[Score]) -> Iterator[str]:
    """Say what the marks leave out."""
    if not any(score.by_default for score in scores):
        yield f"of no reader it is known that its settings are its engine's own ({DEFAULT})"
        return
    yield f"{DEFAULT}: nobody chose a setting otherwise than the engine has it by itself"
    same = grouped((s.ours, s.reader) for s in scores if s.by_default and s.ours)
    for ours, readers in same.items():
        yield f"set by the harness all the same for {'; '.join(readers)}: {ours}"
