"""A rollout on a terminal, and as plain text: which order is safe, and each state on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.comparison.rollout import Rollout
from harness.reports import rollout_words as words
from harness.reports import upgrade_terminal, upgrade_words
from harness.reports.lines import item, say
from harness.reports.terminal import WIDTH

FILE: Final = "rollout.txt"


def write(found: Rollout, folder: Path) -> Path:
    """Write the report as plain text."""
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(found, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(found: Rollout, console: Console, page: Path | None = None) -> None:
    """Print the report; `page`: where it can be looked at."""
    say(console, words.headline(found), "bold")
    say(console, words.no_return(found))
    _table(found, console)
    for state in found.states:  # the page has the states of other orders too
        if not state.safe:
            say(console, f"\nAfter {state.name}: {words.worse(state.found)}", "bold")
            upgrade_terminal.causes(state.found, console)
        for title, each in words.ways_back(state):
            say(console, f"\n{title}: {words.worse(each)}", "bold")
            for cause in each.relevant:
                item(console, upgrade_words.cause_title(cause), "red")
    if page is not None:
        say(console, "\nEach state as a page of its own:")
        console.print(Text(f"    {page}"), soft_wrap=True)


def _table(found: Rollout, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("changes", "after", "answer", "way back"):
        table.add_column(name, overflow="fold")
    for state in found.judged:
        row = (words.numbers(state), state.name, str(state.found.decision), words.way_back(state))
        table.add_row(*map(Text, row))
    console.print(table)
