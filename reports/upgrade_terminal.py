"""A comparison of two sides on a terminal, and as plain text: the answer first."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.comparison.reader_scores import ReaderScore, reader_scores
from harness.comparison.regressions import Regression
from harness.comparison.result import SideComparison
from harness.comparison.verdict_change import BETTER, WORSE, VerdictChange
from harness.core.counting import counted
from harness.reports import upgrade_words as words
from harness.reports.lines import command, item, say, text
from harness.reports.terminal import WIDTH
from harness.reports.words import VERDICTS

FILE: Final = "upgrade.txt"
IN_FULL: Final = 10
"""So many causes are told in full; of the others only what breaks."""
AT_MOST: Final = 12
"""So many lines of a list."""
NOBODY: Final = "nobody"
"""Stands where a side did not ask a reader."""
STYLES: Final = {
    **dict.fromkeys(WORSE, "bold red"),
    **dict.fromkeys(BETTER, "green"),
    VerdictChange.UNKNOWN: "bold yellow",
}
KINDS: Final = tuple(VERDICTS)
"""The verdicts of the reader_scores: what is right first."""


def write(found: SideComparison, folder: Path) -> Path:
    """Write the report as plain text."""
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(found, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(found: SideComparison, console: Console, html: Path | None = None) -> None:
    """Print the report; `html`: where the page lies, if there is one."""
    say(console, words.headline(found), "bold")
    causes(found, console)
    for title, lines in words.own_tables(found):
        _listed(title, lines, console)
    _accepted(found, console)
    _scores(found, console)
    _classes(found, console)
    _listed("Not known", words.not_known(found), console, "bold yellow")
    today = f"Wrong today already, with {found.old.name}"
    _listed(today, words.wrong_today(found), console, "red")
    if html:
        say(console, "\nEvery answer that is not right as before, old beside new:")
        command(console, str(html))


def causes(found: SideComparison, console: Console) -> None:
    """Print what gets worse, by its causes."""
    if found.relevant:
        say(console, "\nWhat gets worse, the most harmful first", "bold")
    for number, cause in enumerate(found.relevant, start=1):
        if number > IN_FULL:
            answers = counted(len(cause.pairs), "answer")
            item(console, f"{words.cause_title(cause)} ({answers})", "red", lead=f"{number}.")
            continue
        say(console, "")
        item(console, words.cause_title(cause), "bold red", lead=f"{number}.")
        _cause(cause, found, console)


def _cause(cause: Regression, found: SideComparison, console: Console) -> None:
    run, verdict = found.new.run, cause.first.either
    told = words.cause_extent(cause, run), words.cause_witness(cause, run)
    to_do = f"What to do: {words.what_to_do(cause, found)}"
    for line in (*told, *words.cause_notes(cause, found), to_do):
        item(console, line, lead="  ")
    for text_, _ in words.to_paste(words.remedy_of(cause, found)):
        command(console, text_)
    if verdict.sql:
        command(console, verdict.sql)
    command(console, f"harness explain {shlex.quote(verdict.case)} --run-dir {run.folder}")


def _accepted(found: SideComparison, console: Console) -> None:
    lines = list(words.line_texts(found.accepted))
    if found.accepted.causes or lines:
        say(console, "\nAccepted", "bold")
    for each in found.accepted.causes:
        item(console, words.accepted_text(each, found.new.run))
    for line in lines:
        item(console, line, "bold yellow")


def _scores(found: SideComparison, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("reader", overflow="fold")
    for kind in KINDS:
        table.add_column(VERDICTS[kind].label, justify="right", no_wrap=True)
    for each in reader_scores(found.pairs):
        table.add_row(*(text(console, cell) for cell in _row(each)))
    say(console, "")
    console.print(table)


def _row(score: ReaderScore) -> Iterator[str]:
    yield words.became(score.old or NOBODY, score.new or NOBODY)
    for kind in KINDS:
        yield words.became(f"{score.before[kind]:,}", f"{score.after[kind]:,}")


def _classes(found: SideComparison, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("answers", justify="right")
    table.add_column("class", no_wrap=True)
    table.add_column("what became of them")
    for change, number, meaning in words.class_lines(found):
        table.add_row(f"{number:,}", Text(str(change), STYLES.get(change, "")), meaning)
    say(console, "")
    console.print(table)


def _listed(title: str, lines: Iterable[str], console: Console, style: str = "") -> None:
    told = list(lines)
    if told:
        say(console, f"\n{title}", "bold")
    for line in told[:AT_MOST]:
        item(console, line, style)
    if (more := len(told) - AT_MOST) > 0:
        item(console, f"and {more} more")
