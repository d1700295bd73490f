"""What a report says, whatever it is written as: blocks of plain texts. Pure.

The renderers, which escape, are `lines.render`, `markdown.markdown` and `document.html.j2`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from harness.core.records import VerdictKind

Tone = VerdictKind | None
"""The verdict whose colour a text has; None: that of plain text."""


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    top: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph, an item's text or a cell of a table: some words that stand out, and others."""

    text: str = ""
    strong: str = ""
    tone: Tone = None
    href: str = ""
    """Where the strong words lead, on a page; the text, where there are none."""

    @property
    def joined(self) -> bool:
        return not (self.strong and self.text) or self.text.startswith((" ", ",", ":", "."))

    @property
    def whole(self) -> str:
        return f"{self.strong}{'' if self.joined else ' '}{self.text}"


@dataclass(frozen=True, slots=True)
class Code:
    """What can be copied: a command, or a line of a configuration."""

    text: str
    place: str = ""
    """Where it goes; empty where that needs no words."""


@dataclass(frozen=True, slots=True)
class Item:
    line: Line
    blocks: tuple[Line | Code, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Item, ...]
    first: int | None = None
    """The number of the first item; None: without numbers."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: Collection[str] = ()
    """The columns that hold numbers, which stand at their right edge."""


def table(
    columns: Iterable[str], rows: Iterable[Iterable[str | Line]], numbers: Iterable[str] = ()
) -> ReportTable:
    lines = (tuple(Line(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
    return ReportTable(tuple(columns), tuple(lines), tuple(numbers))


Block = Heading | Line | Code | Items | ReportTable

MOST_LINES: Final = 12


def section(
    title: str,
    lines: Iterable[str | Item],
    tone: Tone = None,
    most: int = MOST_LINES,
    note: str = "",
) -> tuple[Block, ...]:
    """Return a list under its title, and a note; nothing where there are no lines."""
    every = list(lines)
    items = [
        Item(Line(line, tone=tone)) if isinstance(line, str) else line for line in every[:most]
    ]
    if (more := len(every) - most) > 0:
        items.append(Item(Line(f"and {more:,} more")))
    notes = (Line(note),) if note else ()
    return (Heading(title), *notes, Items(tuple(items))) if items else ()
