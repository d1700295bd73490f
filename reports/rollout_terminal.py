"""A rollout on a terminal, and as plain text: which order is safe, and each state on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.comparison.answer import Decision
from harness.comparison.result import SideComparison
from harness.comparison.rollout import Rollout
from harness.core.counting import counted
from harness.reports import upgrade_terminal
from harness.reports.lines import say
from harness.reports.terminal import WIDTH

FILE: Final = "rollout.txt"


def write(found: Rollout, folder: Path) -> Path:
    """Write the report as plain text."""
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(found, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(found: Rollout, console: Console) -> None:
    """Print the report."""
    say(console, headline(found), "bold")
    say(console, no_return(found))
    _table(found, console)
    for state in (*found.states, *found.tried):
        if not state.safe:
            _state(f"After {state.name}", state.found, console)
        if state.back is not None and not state.returns:
            _state(f"The way back from {state.name}", state.back, console)


def _state(title: str, found: SideComparison, console: Console) -> None:
    """Print of a state what is worse than before all changes."""
    say(console, f"\n{title}: {_how(found)}", "bold")
    upgrade_terminal.causes(found, console)


def headline(found: Rollout) -> str:
    """Say whether the order is safe, or else which one is."""
    if found.safe:
        return "This order is safe: in no state on the way does anything get worse."
    unsafe = next(each for each in found.states if not each.safe)
    told = f"Do not roll out in this order: after {unsafe.name} {_how(unsafe.found)}."
    if found.safe_order is None:
        return f"{told} No order of these changes is safe."
    return f"{told} This order is safe: {', '.join(map(str, found.safe_order))}."


def _how(found: SideComparison) -> str:
    worse = len(found.worse)
    return f"{counted(worse, 'answer is', 'answers are')} worse" if worse else "not all is known"


def no_return(found: Rollout) -> str:
    """Say from which state on there is no way back."""
    if found.no_return is None:
        return "From every state there is a way back: the old readers and the old writer."
    return (
        f"The point of no return is {found.no_return.name}: the old readers, or the old writer, do "
        "not get along with what is there then."
    )


def _table(found: Rollout, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("after", "answer", "way back"):
        table.add_column(name, overflow="fold")
    for state in (*found.states, *found.tried):
        unknown = state.back is None or state.back.decision is Decision.NOT_KNOWN
        back = "there is one" if state.returns else "not known" if unknown else "none"
        table.add_row(Text(state.name), Text(str(state.found.decision)), Text(back))
    console.print(table)
