"""A run in short as Markdown: for a comment on a pull request, and for a job's summary.

The answer comes first, then how each reader fared, then the causes, new ones first, ten of them in
full. What there is no room for is left out in whole blocks, and counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from textwrap import indent
from typing import Final

from harness.core.counting import counted
from harness.judge.gate import GOOD, UNKNOWN, Gate
from harness.reports import agreement, ci_site, html, summary
from harness.reports.cause_texts import CauseText, cause_texts
from harness.reports.ci_site import CiSite
from harness.reports.markdown_text import code, escaped
from harness.reports.scoreboard import Score, scoreboard
from harness.reports.words import VERDICTS, short
from harness.run import run_gate
from harness.run.load_run import Run
from harness.run.scenario_places import ScenarioPlaces

NAME: Final = "markdown"
FILE: Final = "summary.md"
MOST_COMMENT: Final = 65_536
"""Characters of a comment on GitHub ("Body is too long (maximum is 65536 characters)"); GitLab's
may have a million. Bytes are counted here, which are never fewer."""
MOST_CAUSES: Final = 10
"""So many causes are told in full; of those after them the headlines are there."""
MOST_LINES: Final = 20
"""So many reasons, or steps that were not applied, are listed."""
MOST_ALARMS: Final = 3
LONGEST_LINE: Final = 2000
"""Characters of each of them."""
_ROOM: Final = 300
"""Bytes for saying what is left out."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part that is there as a whole or not at all."""

    text: str
    what: str = "part"
    """What it is one of, for counting those that are left out."""


def write(run: Run, folder: Path) -> Path:
    """Write the report, `summary.md`."""
    path = folder / FILE
    said = text(run, run_gate.recorded_gate(run), ci_site.of(os.environ), MOST_COMMENT)
    path.write_text(said, encoding="utf-8", errors="backslashreplace")
    return path


def text(
    run: Run, gate: Gate, site: CiSite, most: int, texts: Sequence[CauseText] | None = None
) -> str:
    """Return the whole text, of at most so many bytes; `texts`: the causes, where they are known.

    To find them takes most of the time.
    """
    causes = _causes(run, cause_texts(run) if texts is None else texts, site)
    return fitted([*_head(run, gate), *causes, *_rest(run)], _foot(run, site), most)


def fitted(blocks: Sequence[Block], foot: str, most: int) -> str:
    """Return the blocks that there is room for, how many are left out, and the last line.

    Nothing where there is no room for these two.
    """
    if (room := most - _ROOM - _size(foot)) < 0:
        return ""
    sizes = accumulate(_size(each.text) + len("\n\n") for each in blocks)
    fits = sum(size <= room for size in sizes)
    left = Counter(each.what for each in blocks[fits:])
    told = ", ".join(counted(number, what) for what, number in left.items())
    more = [f"**Left out for want of room:** {told}."] if told else []
    return "\n\n".join([*(each.text for each in blocks[:fits]), *more, foot]) + "\n"


def _size(said: str) -> int:
    return len(said.encode("utf-8", "backslashreplace"))


def _head(run: Run, gate: Gate) -> Iterator[Block]:
    yield Block(f"### Lake tables: {_answer(gate)}")
    yield Block(_lines(gate.reasons))
    yield Block(_scores(scoreboard(run)), "table")
    if alarms := [f"ALARM: {each.text}" for each in agreement.alarms(run)]:
        yield Block(_lines(alarms, MOST_ALARMS), "list of alarms")


def _answer(gate: Gate) -> str:
    if gate.status == UNKNOWN:
        return "not everything is known"
    said = "all is right, or known" if gate.status == GOOD else "something is new"
    return f"{said}; some of it is flaky" if gate.flaky else said


def _lines(said: Sequence[str], most: int = MOST_LINES) -> str:
    shown = [f"- {escaped(short(each, LONGEST_LINE))}" for each in said[:most]]
    left = len(said) - len(shown)
    return "\n".join([*shown, *([f"- and {left:,} more"] if left else [])])


def _scores(scores: Sequence[Score]) -> str:
    names = [word.label for word in VERDICTS.values()]
    rows = (
        [escaped(each.reader), "yes" if each.by_default else "", *map(_count, each.counts.values())]
        for each in scores
    )
    lines = (["reader", "default", *names], ["---", "---", *("---:" for _ in names)], *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _causes(run: Run, texts: Sequence[CauseText], site: CiSite) -> Iterator[Block]:
    places = ScenarioPlaces(run)
    new, known = ([each for each in texts if bool(each.known) is of] for of in (False, True))
    if new:
        yield Block(f"#### What is not correct: {counted(len(new), 'cause')}", "heading")
    for number, each in enumerate(new, start=1):
        link = site.link(places.of_cause(each.cause))
        said = _cause(each, link) if number <= MOST_CAUSES else _headline(each, link)
        yield Block(f"{number}. {indent(said, ' ' * 4).strip()}", "cause")
    if known:
        yield Block(f"#### Known, and still there: {counted(len(known), 'cause')}", "heading")
    for number, each in enumerate(known, start=len(new) + 1):
        why = f"**{escaped(each.headline)}** {escaped(each.known)}"
        yield Block(f"{number}. {why}", "known cause")


def _headline(each: CauseText, link: str) -> str:
    return f"**{escaped(each.headline)}**{f' ([its line]({link}))' if link else ''}"


def _cause(each: CauseText, link: str) -> str:
    told = {
        "seen": escaped(each.seen),
        "by": escaped(each.readers),
        "where": escaped(each.where),
        "what to do": escaped(each.to_do),
        "look": code(each.commands[0]),
    }
    lines = (f"- {name}: {said}" for name, said in told.items() if said)
    return "\n".join([_headline(each, link), *lines])


def _rest(run: Run) -> Iterator[Block]:
    half_done = [f"{what}: {why}" for what, why in summary.half_done_steps(run)]
    failed = [f"{what}: {why}" for what, why in summary.failed_steps(run)]
    wrong = [f"{what}: {why}" for what, why in summary.wrong_steps(run)]
    if wrong:
        yield Block(f"#### {summary.WRONG_STEPS}\n\n{_lines(wrong)}", "list of steps")
    if half_done:
        yield Block(
            f"#### Steps that were committed, and then failed\n\n{_lines(half_done)}",
            "list of steps",
        )
    if failed:
        yield Block(f"#### Steps that were not applied\n\n{_lines(failed)}", "list of steps")


def _foot(run: Run, site: CiSite) -> str:
    kept = f"[the files that the job kept]({site.job})" if site.job else "the run's folder"
    named = f"profile {escaped(run.info.profile)}, run {escaped(run.info.id)}"
    return f"{named}; every cell with its tables and files: {code(html.FILE)} in {kept}."
