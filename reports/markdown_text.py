"""Texts of engines and files in Markdown: each means nothing but itself."""

from __future__ import annotations

import re
from typing import Final

from harness.core.errors import printable

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#!|~$&]|:(?=//|\w+:)|(?<=www)\.)", re.IGNORECASE)
"""What means something within a line; no line begins with a text that is not our own."""
_MENTION: Final = re.compile(r"([@#!~])(?=\w)")
NOTHING: Final = "&#8203;"
"""A character of no width. Sites make links to people and issues of escaped names as well."""


def escaped(said: str) -> str:
    r"""Return a text on one line that means nothing but itself.

    All that Markdown, HTML and the sites that show it would make something of is escaped.

    >>> print(escaped("a|b <i> @me #1\n# www.x"))
    a\|b \<i\> @&#8203;me \#&#8203;1 \# www\.x
    """
    line = printable(" ".join(said.split()))
    return _MENTION.sub(rf"\1{NOTHING}", _SPECIAL.sub(r"\\\1", line))


def code(said: str) -> str:
    """Return a text as code, which can be copied; no run of backticks in it ends it.

    >>> print(code("harness explain 'a`b'"))
    `` harness explain 'a`b' ``
    """
    line = printable(" ".join(said.split()))
    if "`" not in line:
        return f"`{line}`"
    ticks = "`" * (max(map(len, re.findall("`+", line))) + 1)
    return f"{ticks} {line} {ticks}"
