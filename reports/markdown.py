"""A run in short as Markdown: for a comment on a pull request, and for a job's summary.

The answer comes first. What does not fit is left out in whole paragraphs, and counted.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from harness.core.texts import counted, printable
from harness.judge.gate import GOOD, UNKNOWN, Gate
from harness.reports import ci_site, html, summary
from harness.reports.cause_texts import CauseText, cause_lines, cause_list, cause_texts
from harness.reports.ci_site import CiSite
from harness.reports.document import Block, Code, Heading, Item, Items, Line, ReportTable, section
from harness.reports.summary import scoreboard
from harness.reports.words import short
from harness.run import run_judge
from harness.run.causes import ScenarioLines
from harness.run.load_run import Run

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


NAME: Final = "markdown"
FILE: Final = "summary.md"
MOST_COMMENT: Final = 65_536
"""Characters of a comment on GitHub ("Body is too long (maximum is 65536 characters)"); GitLab's
may have a million. Bytes are counted here, which are never fewer."""
MOST_CAUSES: Final = 10
"""So many causes are there in full; of those after them the headlines are."""
MOST_LINES: Final = 20
MOST_ALARMS: Final = 3
LONGEST_LINE: Final = 2000
_RESERVE: Final = 300


def write(run: Run, folder: Path) -> Path:
    path = folder / FILE
    content = text(run, run_judge.recorded_gate(run), ci_site.of(os.environ), MOST_COMMENT)
    path.write_text(content, encoding="utf-8", errors="backslashreplace")
    return path


def text(
    run: Run, gate: Gate, site: CiSite, most: int, texts: Sequence[CauseText] | None = None
) -> str:
    """Return the whole text, of `most` bytes; `texts`: the causes, where they are known."""
    texts = cause_texts(run) if texts is None else texts
    lines = ScenarioLines(run)

    def cause_blocks(cause_text: CauseText, number: int) -> tuple[Line | Code, ...]:
        link = "" if cause_text.known else site.link(lines.of_cause(cause_text.cause))
        if cause_text.known:
            return (Line(cause_text.known),)
        full = cause_lines(cause_text) if number <= MOST_CAUSES else ()
        return (*([Line(strong="its line", href=link)] if link else []), *full)

    return fitted(
        [
            Heading(f"Lake tables: {_answer(gate)}", top=True),
            *_lines(gate.reasons),
            summary.scores(scoreboard(run), ""),
            *_lines([f"ALARM: {alarm.text}" for alarm in summary.alarms(run)], MOST_ALARMS),
            *cause_list(texts, cause_blocks),
            *summary.steps(run, MOST_LINES),
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
    """Return the paragraphs that fit, how many are left out, and the last line."""
    if (space := most - _RESERVE - _size(foot)) < 0:
        return ""
    texts = [paragraph for block in blocks for paragraph in paragraphs(block)]
    sizes = accumulate(_size(paragraph) + len("\n\n") for paragraph in texts)
    fits = sum(size <= space for size in sizes)
    left = counted(len(texts) - fits, "paragraph")
    more = [f"**Left out for want of room:** {left}."] if fits < len(texts) else []
    return "\n\n".join([*texts[:fits], *more, foot]) + "\n"


def _size(words: str) -> int:
    return len(words.encode("utf-8", "backslashreplace"))


def _foot(run: Run, site: CiSite) -> str:
    files = f"[the files that the job kept]({site.job})" if site.job else "the run's folder"
    named = f"profile {escaped(run.info.profile)}, run {escaped(run.info.id)}"
    return f"{named}; every check with its tables and files: {code(html.FILE)} in {files}."
