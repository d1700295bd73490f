"""What came of reproducers run by hand, as the lines of a Markdown table. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from by_hand_script import Script

from harness.reproduce.files import SCRIPT

_COMMENT = "-- "
_SEEN = "-- seen: "


def lines(came: Iterable[tuple[Script, str]]) -> Iterator[str]:
    """Give the table: each reproducer by its cause, what its reader said, what came of it by hand.

    The cause is the first line of its script; what was said, the first comment about it.
    """
    yield "| cause | seen | by hand |"
    yield "| --- | --- | --- |"
    for script, result in came:
        cause = script.head[0].removeprefix(_COMMENT).rstrip(".") if script.head else script.name
        seen = [each.removeprefix(_SEEN) for each in script.head if each.startswith(_SEEN)]
        cells = (_text(cause), _text(seen[0] if seen else ""), result)
        yield f"| [{cells[0]}]({script.name}/{SCRIPT}) | {cells[1]} | {cells[2]} |"


def _text(text: str) -> str:
    """Give a text as a cell holds it: Markdown's own signs are those of the text."""
    for sign in "\\|[]*<`":
        text = text.replace(sign, f"\\{sign}")
    return text
