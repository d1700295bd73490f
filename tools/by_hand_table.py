"""What came of reproducers run by hand, as Markdown: a table for each operation. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import groupby

from by_hand_script import Script

from harness.reproduce.files import SCRIPT

Row = tuple[str, Script, str]
_COMMENT = "-- "
_SEEN = "-- seen: "


def lines(came: Iterable[tuple[Script, str]], beside: Container[str]) -> Iterator[str]:
    """Give the tables: each reproducer by its cause, what its reader said, what came of it by hand.

    The cause is the first line of its script, the operation before all else; what was said is the
    comment about the finding that it is of. `beside`: the reproducers that stand where the tables
    will, which are linked.
    """
    rows = [(_cause(script), script, result) for script, result in came]
    rows.sort(key=lambda row: (row[0], row[1].name))
    for operation, found in groupby(rows, key=lambda row: row[0].partition(": ")[0]):
        yield from (f"## {operation}", "", "| cause | seen | by hand |", "| --- | --- | --- |")
        yield from (_row(row, linked=row[1].name in beside) for row in found)
        yield ""


def _cause(script: Script) -> str:
    return script.head[0].removeprefix(_COMMENT).rstrip(".") if script.head else script.name


def _row(row: Row, *, linked: bool) -> str:
    cause, script, result = row
    told = cause.partition(": ")[2] or cause
    seen = [each.removeprefix(_SEEN) for each in script.head if each.startswith(_SEEN)]
    kind = told.partition(" ")[0].replace("_", " ")
    seen.sort(key=lambda each: not each.startswith(kind))  # one answer may show several findings
    shown = f"[{_text(told)}]({script.name}/{SCRIPT})" if linked else _text(told)
    return f"| {shown} | {_text(seen[0] if seen else '')} | {result} |"


def _text(text: str) -> str:
    """Give a text as a cell holds it: Markdown's own signs are those of the text."""
    for sign in "\\|[]*<`":
        text = text.replace(sign, f"\\{sign}")
    return text
