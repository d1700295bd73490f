"""A run in short as Markdown: for a comment on a pull request, and for a job's summary.

The answer comes first, then how each reader fared, then the causes, new ones first, ten of them in
full. What does not fit is left out in whole paragraphs, and counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from harness.core.counting import counted
from harness.judge.gate import GOOD, UNKNOWN, Gate
from harness.reports import agreement, ci_site, html, run_report
from harness.reports.cause_texts import CauseText, cause_texts
from harness.reports.ci_site import CiSite
from harness.reports.document import Block, Code, Heading, Items, Line, ReportTable, section
from harness.reports.markdown_text import code, escaped, paragraphs
from harness.reports.reader_answers import scoreboard
from harness.reports.words import short
from harness.run import run_judge
from harness.run.causes import ScenarioPlaces
from harness.run.load_run import Run

NAME: Final = "markdown"
FILE: Final = "summary.md"
MOST_COMMENT: Final = 65_536
"""Characters of a comment on GitHub ("Body is too long (maximum is 65536 characters)"); GitLab's
may have a million. Bytes are counted here, which are never fewer."""
MOST_CAUSES: Final = 10
"""So many causes are there in full; of those after them the headlines are."""
MOST_LINES: Final = 20
"""So many reasons, or steps that were not applied, are listed."""
MOST_ALARMS: Final = 3
LONGEST_LINE: Final = 2000
"""Characters of each of them."""
_RESERVE: Final = 300
"""Bytes for saying what is left out."""


def write(run: Run, folder: Path) -> Path:
    """Write the report, `summary.md`."""
    path = folder / FILE
    content = text(run, run_judge.recorded_gate(run), ci_site.of(os.environ), MOST_COMMENT)
    path.write_text(content, encoding="utf-8", errors="backslashreplace")
    return path


def text(
    run: Run, gate: Gate, site: CiSite, most: int, texts: Sequence[CauseText] | None = None
) -> str:
    """Return the whole text, of at most so many bytes; `texts`: the causes, where they are known.

    To find them takes most of the time.
    """
    texts = cause_texts(run) if texts is None else texts
    places = ScenarioPlaces(run)

    def cause_blocks(of: CauseText, number: int) -> tuple[Line | Code, ...]:
        link = "" if of.known else site.link(places.of_cause(of.cause))
        if of.known:
            return (Line(of.known),)
        full = run_report.cause_lines(of) if number <= MOST_CAUSES else ()
        return (*([Line(strong="its line", href=link)] if link else []), *full)

    return fitted(
        [
            Heading(f"Lake tables: {_answer(gate)}", top=True),
            *_lines(gate.reasons),
            run_report.scores(scoreboard(run), ""),
            *_lines([f"ALARM: {alarm.text}" for alarm in agreement.alarms(run)], MOST_ALARMS),
            *run_report.causes(texts, cause_blocks),
            *run_report.steps(run, MOST_LINES),
        ],
        _foot(run, site),
        most,
    )


def _answer(gate: Gate) -> str:
    if gate.status == UNKNOWN:
        return "not everything is known"
    answer = "all is right, or known" if gate.status == GOOD else "something is new"
    return f"{answer}; some of it is flaky" if gate.flaky else answer


def _lines(texts: Sequence[str], most: int = MOST_LINES) -> tuple[Block, ...]:
    return section("", [short(text, LONGEST_LINE) for text in texts], most=most)[1:]


def fitted(blocks: Iterable[Block], foot: str, most: int) -> str:
    """Return the paragraphs that fit, how many are left out, and the last line.

    Nothing where there is no room for these two.
    """
    if (room := most - _RESERVE - _size(foot)) < 0:
        return ""
    texts = [*_named_paragraphs(blocks)]
    sizes = accumulate(_size(paragraph) + len("\n\n") for paragraph, _ in texts)
    fits = sum(size <= room for size in sizes)
    left = Counter(name for _, name in texts[fits:])
    counts = ", ".join(counted(number, name) for name, number in left.items())
    more = [f"**Left out for want of room:** {counts}."] if counts else []
    return "\n\n".join([*(paragraph for paragraph, _ in texts[:fits]), *more, foot]) + "\n"


def _named_paragraphs(blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        match block:
            case Heading():
                name = "heading"
            case ReportTable():
                name = "table"
            case Items(first=None):
                name = "list"
            case Items():
                name = "cause"
            case _:
                name = "part"
        yield from ((paragraph, name) for paragraph in paragraphs(block))


def _size(words: str) -> int:
    return len(words.encode("utf-8", "backslashreplace"))


def _foot(run: Run, site: CiSite) -> str:
    files = f"[the files that the job kept]({site.job})" if site.job else "the run's folder"
    named = f"profile {escaped(run.info.profile)}, run {escaped(run.info.id)}"
    return f"{named}; every cell with its tables and files: {code(html.FILE)} in {files}."
