"""Remedies on a terminal: a table with a line for each combination of settings."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.remedy.alternatives import UnusableSettings, changes
from harness.cli.remedy.effects import Effect
from harness.core.counting import counted
from harness.core.records import Verdict
from harness.reports.findings import FINDINGS
from harness.reports.lines import say
from harness.reports.words import VERDICTS
from harness.scenario.cells import Reader

MOST = 6
"""So many cells that turned wrong are named."""


def effects(reader: Reader, found: Sequence[Effect], console: Console) -> None:
    """Print the table, those that heal without harm first."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    heads = "changed setting", "this case", "others: turned right", "turned wrong", "still wrong"
    for name in (*heads, "still right", "unknown"):
        table.add_column(name, overflow="fold")
    for effect in sorted(found, key=_rank):
        told = ", ".join(changes(dict(reader.settings), dict(effect.reader.settings)))
        counts = (effect.turned_right, effect.turned_wrong, effect.still_wrong)
        numbers = [*map(len, counts), effect.still_right, len(effect.unknown)]
        style = "green" if effect.heals else ""
        table.add_row(Text(told), Text(word(effect.case), style), *map(str, numbers))
    console.print(table)


def conclusion(reader: Reader, found: Sequence[Effect], console: Console) -> None:
    """Print which settings help, and what they cost."""
    healing = sorted((effect for effect in found if effect.heals), key=_rank)
    if not healing:
        say(console, "no setting turns this case right", "bold")
    for effect in healing:
        told = ", ".join(changes(dict(reader.settings), dict(effect.reader.settings)))
        cost = "nothing else turns wrong" if not effect.turned_wrong else "but these turn wrong:"
        say(console, f"{told}: this case is right; {cost}", "bold")
        for one in effect.turned_wrong[:MOST]:
            say(console, f"  {one.case}: {word(one)}")
        if (left := len(effect.turned_wrong) - MOST) > 0:
            say(console, f"  … and {left} more")
        if effect.unknown:
            say(console, f"  nothing is known about {counted(len(effect.unknown), 'cell')}")


def impossible(reader: Reader, found: Sequence[UnusableSettings], console: Console) -> None:
    """Print which settings cannot be tried here."""
    for settings in found:
        told = ", ".join(changes(dict(reader.settings), dict(settings.reader.settings)))
        say(console, f"not tried: {told}: {settings.why}", "dim")


def word(verdict: Verdict | None) -> str:
    """Return a verdict in a few words."""
    if verdict is None:
        return "not asked"
    kinds = ", ".join(FINDINGS[finding.kind].label for finding in verdict.findings)
    label = VERDICTS[verdict.verdict].label
    return f"{label}: {kinds}" if kinds else label


def _rank(each: Effect) -> tuple[bool, int, int]:
    return not each.heals, len(each.turned_wrong), len(each.still_wrong)
