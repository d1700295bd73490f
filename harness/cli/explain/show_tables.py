"""The tables of an explained case on a terminal, as many side by side as have room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.explain.tables import CaseTables, ComparedRow, ComparedTable, ComparedValue
from harness.core.counting import counted
from harness.core.errors import printable
from harness.reports.lines import item, say
from harness.reports.sentences import LITTLE
from harness.reports.words import STRATEGIES, TRACED, exact, short, strategy_parts

WRONG: Final = "≠"
ABSENT: Final = "no such row"
LONGEST: Final = 24
"""Characters of a value in a table; findings show it longer."""
WIDEST_TITLE: Final = 36
BETWEEN: Final = 2
"""Columns between two tables."""


def tables(told: CaseTables, console: Console) -> None:
    """Put the expected table and the answer side by side."""
    say(console, "\nTables", "bold")
    say(console, f"{WRONG} not the expected value; + a row too many", "dim")
    say(console, TRACED, "dim")
    _beside([told.expected, *([told.found] if told.found else [])], console)


def ways(told: CaseTables, console: Console) -> None:
    """Put side by side what each way of reading gives, and say which gives the answer."""
    say(console, "\nWays of reading, and what each would answer", "bold")
    _beside(sorted(told.ways, key=lambda sheet: not sheet.same_as_found), console)
    say(console, _fits(told))
    parts = (part for sheet in told.ways for way in sheet.titles for part in strategy_parts(way))
    for part in dict.fromkeys(parts):
        item(console, f"{part}: {STRATEGIES[part]}", lead=" -")


def _beside(sheets: Iterable[ComparedTable], console: Console) -> None:
    for line in _packed([_table(sheet) for sheet in sheets], console):
        grid = Table.grid(padding=(0, BETWEEN))
        grid.add_row(*line)
        console.print(grid)
        console.print()


def _packed(shown: Sequence[Table], console: Console) -> list[list[Table]]:
    """Put as many tables on a line as have room, in their order."""
    lines: list[list[Table]] = []
    left = 0
    for table in shown:
        width = console.measure(table).maximum + BETWEEN
        if not lines or left < width:
            lines.append([])
            left = console.width
        lines[-1].append(table)
        left -= width
    return lines


def _fits(told: CaseTables) -> str:
    if not told.tried:
        return "No way of reading is worked out for this view, so none is claimed."
    tried = counted(told.tried, "way of reading was tried", "ways of reading were tried")
    if told.found is None:
        return f"{tried}; there is no answer to compare with."
    if not told.fitting:
        return f"{tried}; none of them gives this answer."
    if len(told.fitting) == 1 and told.scant:
        return f"{tried}; none is claimed: {told.fitting[0]} {LITTLE}."
    if len(told.fitting) == 1:
        return f"{tried}; the smallest that gives this answer: {told.fitting[0]}."
    names = "; ".join(told.fitting)
    return f"{tried}; several give this answer, so none is claimed: {names}."


def _table(sheet: ComparedTable) -> Table:
    marks = ["as expected"] if sheet.same_as_expected else []
    marks += ["= FOUND"] if sheet.same_as_found else []
    title = Text("\n".join((*map(printable, sheet.titles), *marks)), "bold")
    # A title that is longer than its table would be folded word by word.
    room = min(WIDEST_TITLE, max(map(len, sheet.titles)))
    shown = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        min_width=room,
    )
    for label in sheet.labels:
        shown.add_column(Text(printable(label)), overflow="fold")
    for line in sheet.lines:
        shown.add_row(*_cells(line, len(sheet.labels)))
    return shown


def _cells(line: ComparedRow, columns: int) -> Iterator[Text]:
    if line.parts is None:
        yield Text(f"{WRONG}{printable(line.key)}: {ABSENT}", "bold red")
        yield from (Text("") for _ in range(columns - 1))
        return
    first, *others = map(_cell, line.parts)
    yield first if line.expected else Text("+ ", "bold red") + first
    yield from others


def _cell(part: ComparedValue) -> Text:
    text = short(exact(part.value), LONGEST)
    return Text(text) if part.right else Text(f"{WRONG}{text}", "bold red")
