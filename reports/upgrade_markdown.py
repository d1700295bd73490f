"""A comparison of two sides as a short Markdown text: for the comment on a pull request.

No text of an engine or a file can be more than text in it (`markdown_text`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.comparison.regressions import Regression
from harness.comparison.result import SideComparison
from harness.core.counting import counted
from harness.reports import upgrade_words as words
from harness.reports.markdown_text import escaped

FILE: Final = "upgrade.md"
MOST_CAUSES: Final = 10


def write(found: SideComparison, folder: Path) -> Path:
    """Write the text."""
    path = folder / FILE
    path.write_text(text(found), encoding="utf-8", errors="backslashreplace")
    return path


def text(found: SideComparison) -> str:
    """Return the whole text."""
    parts = (_answer(found), _classes(found), *_causes(found), *_accepted(found))
    return "\n\n".join(parts) + "\n"


def _answer(found: SideComparison) -> str:
    said = words.reasons(found)
    after = escaped(said) if said.startswith((",", ":")) else f" {escaped(said)}"
    return f"**{words.label(found)}**{after}"


def _causes(found: SideComparison) -> Iterator[str]:
    """Yield a paragraph for each cause, as an item of a list."""
    for number, cause in enumerate(found.relevant[:MOST_CAUSES], start=1):
        yield f"{number}. {_cause(cause, found)}"
    if (more := len(found.relevant) - MOST_CAUSES) > 0:
        yield f"And {counted(more, 'cause')} more, which the page has."


def _cause(cause: Regression, found: SideComparison) -> str:
    run = found.new.run
    seen = words.cause_extent(cause, run), f"For example {words.cause_witness(cause, run)}"
    told = *(f"{each}." for each in seen), *words.cause_notes(cause, found)
    said = " ".join(map(escaped, told))
    title, to_do = escaped(words.cause_title(cause)), escaped(words.what_to_do(cause, found))
    return f"**{title}.** {said} **What to do:** {to_do}"


def _accepted(found: SideComparison) -> Iterator[str]:
    run = found.new.run
    lines = (
        *(words.accepted_text(each, run) for each in found.accepted.causes),
        *words.line_texts(found.accepted),
    )
    if lines:
        yield "\n".join(["**Accepted**", "", *(f"- Of {escaped(each)}" for each in lines)])


def _classes(found: SideComparison) -> str:
    rows = (
        f"| {number:,} | {change} | {escaped(meaning)} |"
        for change, number, meaning in words.class_lines(found)
    )
    return "\n".join(["| answers | class | what became of them |", "| ---: | --- | --- |", *rows])
