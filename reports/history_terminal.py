"""The history of runs on a terminal: the answer first, then each turn with what differed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table

from harness.comparison.history import History
from harness.comparison.turn_groups import TurnGroup, all_turns, not_right_now
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.reports import history_words as words
from harness.reports.lines import command, item, say, text
from harness.reports.upgrade_terminal import STYLES
from harness.reports.words import VERDICTS
from harness.run.kept_run import KeptRun

AT_MOST: Final = 12
"""So many groups of turns are told."""


def render(history: History, console: Console) -> None:
    """Print the history."""
    say(console, words.headline(history), "bold")
    for doubt in filter(None, (words.unknown(history), words.fewer(history))):
        say(console, doubt, "yellow")
    now, turns = not_right_now(history), all_turns(history)
    told = [(_when(each, history), words.symptom(each), each) for each in now]
    _section("Not right now, since when, and what differed then", told, console)
    told = [(_when(each, history), words.change(each), each) for each in turns]
    _section("Every turn, the newest first", told, console)
    _hints(turns, history, console)


def _when(group: TurnGroup, history: History) -> str:
    told = f"{words.since(group, history)}{words.differed(group)}"
    return told[0].upper() + told[1:]


def _section(heading: str, told: Sequence[tuple[str, str, TurnGroup]], console: Console) -> None:
    if told:
        say(console, f"\n{heading}", "bold")
    for when, of in grouped((each[0], each[1:]) for each in told[:AT_MOST]).items():
        say(console, when)
        for line, group in of:
            item(console, line, STYLES.get(group.change, ""))
            command(console, group.cell.case)
    if (more := len(told) - AT_MOST) > 0:
        item(console, f"and {more} more; all of them: harness history export FILE.csv")


def _hints(turns: Sequence[TurnGroup], history: History, console: Console) -> None:
    if turns and (before := turns[0].first.before):
        say(console, "\nEvery answer of the newest turn, old beside new:")
        names = (shlex.quote(each.name) for each in (before, turns[0].run))
        command(console, f"harness compare {' '.join(names)}")
    if history.others:
        others = ", ".join(f"{name} ({number})" for name, number in history.others.items())
        say(console, f"\nAlso kept, of other profiles (--profile): {others}")


def render_runs(
    runs: Sequence[KeptRun], counts: Mapping[int, Counter[VerdictKind]], console: Console
) -> None:
    """Print the runs that are kept, the newest last."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("run", "profile", "began (UTC)"):
        table.add_column(heading, overflow="fold")
    for each in VerdictKind:
        table.add_column(VERDICTS[each].label, justify="right", no_wrap=True)
    for run in runs:
        told = (run.name, run.info.profile, f"{run.info.started:%Y-%m-%d %H:%M}")
        own = counts.get(run.number, Counter())
        cells = (*told, *(f"{own[each]:,}" for each in VerdictKind))
        table.add_row(*(text(console, each) for each in cells))
    console.print(table)
