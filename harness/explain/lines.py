"""Lines on a terminal, whatever a text holds."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.errors import printable


def say(console: Console, text: str, style: str = "") -> None:
    """Print a text that cannot command the terminal."""
    lines = "\n".join(map(printable, text.split("\n")))
    console.print(Text(lines, style), highlight=False)


def item(console: Console, lead: str, text: str, style: str = "") -> None:
    """Print a text behind what leads it; its further lines begin where the first one does."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(lead), Text(printable(text), style))
    console.print(grid)
