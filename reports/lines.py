"""Lines on a terminal that cannot command it, whatever a text holds."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.core.errors import printable


def text(console: Console, said: str, style: str = "") -> Text:
    """Return a text that the console's encoding can hold."""
    lines = "\n".join(printable(line) for line in said.split("\n"))
    held = lines.encode(console.encoding, "backslashreplace").decode(console.encoding)
    return Text(held, style)


def say(console: Console, said: str, style: str = "") -> None:
    """Print a text, folded at the console's width."""
    console.print(text(console, said, style), highlight=False, soft_wrap=False)


def item(console: Console, said: str, style: str = "", lead: str = "-") -> None:
    """Print a text behind what leads it; its further lines begin where the first one does.

    `style`: of what leads.
    """
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_row(text(console, lead, style), text(console, said))
    console.print(line)


def command(console: Console, said: str) -> None:
    """Print a command on one line, however long: it is to be copied."""
    console.print(text(console, f"    {said}"), highlight=False, soft_wrap=True)
