"""Lines on a terminal that cannot command it, whatever a text holds; and documents made of them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import rich.table
from rich import box
from rich.console import Console
from rich.text import Text

from harness.core.records import VerdictKind
from harness.core.texts import printable
from harness.reports.document import Block, Code, Heading, Item, Items, Line, ReportTable, Tone

WIDTH: Final = 120
"""Columns of a written file; a terminal's own width otherwise."""
STYLES: Final[Mapping[Tone, str]] = {
    None: "",
    VerdictKind.CORRECT: "green",
    VerdictKind.WRONG: "bold red",
    VerdictKind.REFUSED: "magenta",
    VerdictKind.OPEN: "cyan",
    VerdictKind.UNSUPPORTED: "dim",
    VerdictKind.UNKNOWN: "bold yellow",
}


def text(console: Console, words: str, style: str = "") -> Text:
    lines = "\n".join(printable(line) for line in words.split("\n"))
    encodable = lines.encode(console.encoding, "backslashreplace").decode(console.encoding)
    return Text(encodable, style)


def say(console: Console, words: str, style: str = "") -> None:
    console.print(text(console, words, style), highlight=False, soft_wrap=False)


def item(console: Console, words: str, style: str = "", lead: str = "-") -> None:
    """Print a text behind what leads it, of that style; further lines begin below."""
    line = rich.table.Table.grid(padding=(0, 1, 0, 0))
    line.add_row(text(console, lead, style), text(console, words))
    console.print(line)


def command(console: Console, words: str) -> None:
    """Print a command on one line, however long: it is to be copied."""
    console.print(text(console, f"    {words}"), highlight=False, soft_wrap=True)


def render(blocks: Iterable[Block], console: Console) -> None:
    for block in blocks:
        match block:
            case Heading():
                say(console, f"\n{block.text}", "bold")
            case Line():
                style = STYLES[block.tone] or ("bold" if block.strong else "")
                say(console, block.whole, style)
            case Code():
                command(console, block.text)
            case Items():
                for number, item in enumerate(block.items, block.first or 0):
                    _item(item, "-" if block.first is None else f"{number}.", console)
            case ReportTable():
                say(console, "")
                console.print(table(block, console))


def _item(block_item: Item, lead: str, console: Console) -> None:
    if block_item.blocks and lead != "-":
        say(console, "")
    item(console, block_item.line.whole, STYLES[block_item.line.tone], lead)
    for block in block_item.blocks:
        if isinstance(block, Code):
            command(console, block.text)
        else:
            item(console, block.whole, lead="  ")


def table(block: ReportTable, console: Console) -> rich.table.Table:
    made = rich.table.Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in block.columns:
        number = column in block.numbers
        made.add_column(
            column, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    for row in block.rows:
        made.add_row(*(text(console, cell.whole, STYLES[cell.tone]) for cell in row))
    return made


def write(blocks: Iterable[Block], path: Path) -> Path:
    with path.open("w", encoding="utf-8") as out:
        render(blocks, Console(file=out, width=WIDTH, color_system=None))
    return path
