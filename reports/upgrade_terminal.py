"""A comparison of two sides on a terminal, and as plain text: the answer first."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.comparison.regressions import Regression
from harness.comparison.result import SideComparison
from harness.comparison.verdict_change import BETTER, WORSE, VerdictChange
from harness.reports import upgrade_words as words
from harness.reports import usage_words
from harness.reports.lines import command, item, say
from harness.reports.terminal import WIDTH

FILE: Final = "upgrade.txt"
STYLES: Final = {
    **dict.fromkeys(WORSE, "bold red"),
    **dict.fromkeys(BETTER, "green"),
    VerdictChange.UNKNOWN: "bold yellow",
}


def write(found: SideComparison, folder: Path) -> Path:
    """Write the report as plain text."""
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(found, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(found: SideComparison, console: Console, html: Path | None = None) -> None:
    """Print the report; `html`: where the page lies, if there is one."""
    say(console, words.headline(found), "bold")
    if found.relevant:
        say(console, "\nWhat gets worse, the most harmful first", "bold")
    for number, cause in enumerate(found.relevant, start=1):
        _cause(cause, number, found, console)
    _listed("Wrong today already on your tables", usage_words.today(found), console)
    _listed("Of these tables nothing is known", usage_words.not_covered(found), console)
    others = map(words.cause_title, usage_words.irrelevant(found))
    _listed("What gets worse and none of your tables can meet", others, console)
    _today(found, console)
    _classes(found, console)
    if html:
        say(console, f"Every cell, old beside new: {html}")


def _cause(cause: Regression, number: int, found: SideComparison, console: Console) -> None:
    run, verdict = found.new.run, cause.first.either
    item(console, words.cause_title(cause), "bold red", lead=f"{number}.")
    lines = words.cause_extent(cause, run), words.cause_witness(cause, run)
    met = usage_words.met_text(found.met[cause.key]) if found.met else ""
    told = *lines, met, words.whose(cause, found), words.what_to_do(cause, found)
    for line in filter(None, told):
        item(console, line, lead="  ")
    if verdict.sql:
        command(console, verdict.sql)
    command(console, f"harness explain {shlex.quote(verdict.case)} --run-dir {run.folder}")


def _listed(title: str, lines: Iterable[str], console: Console) -> None:
    for number, line in enumerate(lines):
        if not number:
            say(console, f"\n{title}", "bold")
        item(console, line)


def _today(found: SideComparison, console: Console) -> None:
    lines = list(words.wrong_today(found))
    if lines:
        say(console, f"\nWrong today already, with {found.old.name}", "bold")
    for line in lines:
        item(console, line, "red")


def _classes(found: SideComparison, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("answers", justify="right")
    table.add_column("")
    table.add_column("of")
    for change, number, meaning in words.class_lines(found):
        table.add_row(f"{number:,}", Text(str(change), STYLES.get(change, "")), meaning)
    say(console, "")
    console.print(table)
