"""Documents as Markdown, in which a text of an engine or a file means nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from harness.core.errors import printable
from harness.reports.document import Block, Code, Heading, Item, Items, Line, ReportTable

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#!|~$&]|:(?=//|\w+:)|(?<=www)\.)", re.IGNORECASE)
"""What means something within a line; no line begins with a text that is not our own."""
_MENTION: Final = re.compile(r"([@#!~])(?=\w)")
NOTHING: Final = "&#8203;"
"""A character of no width. Sites make links to people and issues of escaped names as well."""


def escaped(words: str) -> str:
    r"""Return a text on one line that means nothing but itself.

    All that Markdown, HTML and the sites that show it would make something of is escaped.

    >>> print(escaped("a|b <i> @me #1\n# www.x"))
    a\|b \<i\> @&#8203;me \#&#8203;1 \# www\.x
    """
    line = printable(" ".join(words.split()))
    return _MENTION.sub(rf"\1{NOTHING}", _SPECIAL.sub(r"\\\1", line))


def code(words: str) -> str:
    """Return a text as code, which can be copied; no run of backticks in it ends it.

    >>> print(code("harness explain 'a`b'"))
    `` harness explain 'a`b' ``
    """
    line = printable(" ".join(words.split()))
    if "`" not in line:
        return f"`{line}`"
    ticks = "`" * (max(map(len, re.findall("`+", line))) + 1)
    return f"{ticks} {line} {ticks}"


def markdown(blocks: Iterable[Block]) -> str:
    return "\n\n".join(text for block in blocks for text in paragraphs(block)) + "\n"


def paragraphs(block: Block) -> Iterator[str]:
    """Yield the paragraphs of a block: each can be left out by itself."""
    match block:
        case Heading():
            yield f"{'###' if block.top else '####'} {escaped(block.text)}"
        case Line():
            yield _line(block)
        case Code():
            yield code(block.text)
        case Items(items=items, first=None):
            yield "\n".join(_item(item, "-") for item in items)
        case Items(items=items, first=int(first)):
            yield from (_item(item, f"{at}.") for at, item in enumerate(items, first))
        case ReportTable():
            yield _table(block)


def _line(line: Line) -> str:
    strong = f"**{escaped(line.strong)}**" if line.strong else ""
    if line.strong and line.href:
        strong = f"[{strong}]({line.href})"
    space = " " if line.text.startswith(" ") or not line.joined else ""
    return f"{strong}{space}{escaped(line.text)}"


def _item(item: Item, lead: str) -> str:
    indent = " " * 4
    details = (
        f"{indent}- {code(block.text) if isinstance(block, Code) else _line(block)}"
        for block in item.blocks
    )
    return "\n".join([f"{lead} {_line(item.line)}", *details])


def _table(table: ReportTable) -> str:
    rows = (
        table.columns,
        ["---:" if column in table.numbers else "---" for column in table.columns],
        *([_line(cell) for cell in row] for row in table.rows),
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
