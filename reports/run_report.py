"""What reports on a run have in common: scores, causes, steps and totals, as a document. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.reports import agreement, summary
from harness.reports.cause_texts import DEFAULT, CauseText
from harness.reports.document import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Line,
    ReportTable,
    section,
    table,
)
from harness.reports.reader_answers import Score
from harness.reports.words import VERDICTS
from harness.run.load_run import Run

AT_ONCE: Final = 3
"""So many things left out for one reason are named; the HTML report names all."""
EVERYTHING: Final = 1 << 30


def scores(of: Sequence[Score], none: str) -> ReportTable:
    """Return how many cells of each reader have which verdict; `none` stands for no cell."""

    def count(kind: VerdictKind, number: int) -> Line:
        return Line(f"{number:,}", tone=kind) if number else Line(none)

    kinds = [word.label for word in VERDICTS.values()]
    rows = (
        (
            score.reader,
            DEFAULT if score.by_default else "",
            *(count(kind, number) for kind, number in score.counts.items()),
        )
        for score in of
    )
    return table(("reader", DEFAULT, *kinds), rows, numbers=kinds)


CauseBlocks = Callable[[CauseText, int], tuple[Line | Code, ...]]
"""What is said of a cause that has a number."""


def causes(texts: Sequence[CauseText], blocks: CauseBlocks) -> Iterator[Block]:
    """Yield the causes, new ones first; `blocks`: what is said of each."""
    new = [text for text in texts if not text.known]
    known = [text for text in texts if text.known]
    for title, of, first in (
        ("What is not correct", new, 1),
        ("Known, and still there", known, len(new) + 1),
    ):
        if of:
            yield Heading(f"{title}: {counted(len(of), 'cause')}")
            items = (
                Item(Line(strong=text.headline, tone=text.verdict), blocks(text, number))
                for number, text in enumerate(of, first)
            )
            yield Items(tuple(items), first)


def cause_lines(text: CauseText) -> tuple[Line | Code, ...]:
    parts = {
        "seen": text.seen,
        "by": text.readers,
        "where": text.where,
        "what to do": text.to_do,
        "known": text.known,
    }
    lines = (Line(words, strong=f"{name}:") for name, words in parts.items() if words)
    return (*lines, Code(text.commands[0]))


def steps(run: Run, most: int = EVERYTHING) -> Iterator[Block]:
    """Yield what is to be said of steps, so many of each kind at most."""
    for title, of, tone in (
        (summary.WRONG_STEPS, summary.wrong_steps(run), VerdictKind.WRONG),
        (
            "Steps that are half-done: committed, then the writer failed",
            summary.half_done_steps(run),
            VerdictKind.REFUSED,
        ),
        ("Steps that were not applied", summary.failed_steps(run), VerdictKind.UNKNOWN),
    ):
        yield from section(title, (f"{step}: {why}" for step, why in of), tone, most)


def coverage(run: Run) -> Iterator[Block]:
    """Yield what was left out of the plan, and which pairs of axis values are covered."""
    excluded = grouped((excluded.why, excluded.what) for excluded in run.info.excluded)
    lines = []
    for why, names in excluded.items():
        more = f" and {len(names) - AT_ONCE} more" if len(names) > AT_ONCE else ""
        lines.append(f"{'; '.join(names[:AT_ONCE])}{more}: {why}")
    yield from section("Left out of the plan", lines, most=EVERYTHING)
    covered = summary.covered_pairs(run.info.pairs)
    impossible = [
        f"not covered in {counted(len(scenarios), 'scenario')}: {pair.what}: {pair.why}"
        for pair, scenarios in summary.impossible_pairs(run.info.pairs)
    ]
    asked = summary.partly_asked(run.info.partly)
    sentences = [f"{covered}."] if covered else []
    sentences += impossible + ([f"{summary.PARTLY}:", *asked] if asked else [])
    yield from section("Pairs of axis values", sentences, most=EVERYTHING)


def totals(run: Run) -> Iterator[Line]:
    """Yield the alarms, and the run as a whole."""
    for alarm in agreement.alarms(run):
        yield Line(f"ALARM: {alarm.text}", tone=VerdictKind.UNKNOWN)
    known = sum(bool(verdict.known) for verdict in run.verdicts)
    counts = [f"{number:,} {kind}" for kind, number in summary.totals(run).items() if number]
    line = f"{counted(len(run.verdicts), 'cell')}: {', '.join(counts) or 'none planned'}"
    yield Line(strong=line + (f"; {known:,} of them known" if known else ""))
    if explained := summary.explained(run):
        yield Line(explained)
    if met := summary.tolerance_counts(run.verdicts):
        yield Line(f"Normalised, as declared: {'; '.join(tolerance.text for tolerance in met)}.")
    if again := len(summary.flaky(run)):
        text = f"Flaky: {counted(again, 'answer')} came only on a second try."
        yield Line(text, tone=VerdictKind.UNKNOWN)
    if reused := sum(verdict.reused for verdict in run.verdicts):
        text = f"{counted(reused, 'answer')} reused from an identical table state"
        yield Line(f"{text} (--fresh asks again).")
