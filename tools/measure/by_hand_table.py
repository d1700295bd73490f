"""What came of reproducers run by hand, as Markdown: a table for each operation. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from typing import Final

from harness.cli.reproduce.files import SCRIPT
from tools.markdown_table import table
from tools.measure.by_hand_script import Script

Came = tuple[Script, str]
HEAD: Final = ("cause", "seen", "by hand")


def lines(came: Iterable[Came], beside: Container[str]) -> Iterator[str]:
    """Yield tables: each reproducer by its cause, what its reader said, what came of it by hand.

    `beside`: the reproducers that stand where the tables will, which are linked.
    """
    ordered = sorted(came, key=lambda each: (each[0].cause, each[0].name))
    for operation, found in groupby(ordered, key=lambda each: each[0].cause.partition(": ")[0]):
        rows = (_row(*each, linked=each[0].name in beside) for each in found)
        yield from (f"## {operation}", "", *table(HEAD, rows), "")


def _row(script: Script, result: str, *, linked: bool) -> tuple[str, ...]:
    cause = script.cause.partition(": ")[2] or script.cause
    kind = cause.partition(" ")[0].replace("_", " ")
    # One answer may show several findings: that of the cause, where it is among them.
    seen = next((each for each in script.told if each.startswith(kind)), "".join(script.told[:1]))
    shown = f"[{_text(cause)}]({script.name}/{SCRIPT})" if linked else _text(cause)
    return shown, _text(seen), result


def _text(text: str) -> str:
    """Return a text as a cell holds it: Markdown's own signs are those of the text."""
    for sign in "\\|[]*<`":
        text = text.replace(sign, f"\\{sign}")
    return text
