"""The report for a terminal: how each reader fared, what breaks, and every answer step by step.

Everything is said in words; colour only repeats it, and only on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.reports import agreement, pairs, summary, tolerance_counts
from harness.reports.cause_texts import DEFAULT, CauseText, cause_texts
from harness.reports.legend import legend, short_names
from harness.reports.lines import command, item, say, text
from harness.reports.matrices import STYLES, counts, matrices
from harness.reports.page_address import cause_address
from harness.reports.scoreboard import Score, scoreboard
from harness.reports.words import VERDICTS
from harness.run.load_run import Run

NAME: Final = "terminal"
FILE: Final = "report.txt"
WIDTH: Final = 120
"""Columns of the written file; a terminal's own width otherwise."""
AT_ONCE: Final = 3
"""So many things left out for one reason are named; the HTML report names all."""
MANY: Final = 20
"""Of more variants than these, only counts are told; the HTML report has every matrix."""


def write(run: Run, folder: Path) -> Path:
    """Write the report as plain text, `report.txt`."""
    path = folder / FILE
    with path.open("w", encoding="utf-8") as out:
        render(run, Console(file=out, width=WIDTH, color_system=None))
    return path


def render(run: Run, console: Console, html: Path | None = None) -> None:
    """Print the report; `html` is where the HTML report lies, when there is one."""
    labels = short_names(run)
    say(console, f"Run {run.info.id}, profile {run.info.profile}", "bold")
    _scores(scoreboard(run), console)
    _causes(cause_texts(run), console, html)
    if len(run.info.variants) > MANY:
        counts(run, console)
    else:
        matrices(run, labels, console)
    legend(run, labels, console)
    _steps(run, console)
    _pairs(run, console)
    _alarms(run, console)
    _totals(run, console)
    if html:
        say(console, f"Every cell with its tables, SQL and files: {html}")


def _scores(scores: Sequence[Score], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("reader", overflow="fold")
    table.add_column("")
    for word in VERDICTS.values():
        table.add_column(word.label, justify="right")
    for each in scores:
        marks = [text(console, each.reader), DEFAULT if each.by_default else ""]
        table.add_row(*marks, *(_count(kind, count) for kind, count in each.counts.items()))
    say(console, "")
    console.print(table)
    for line in _notes(scores):
        item(console, line, lead=" -")


def _count(kind: VerdictKind, count: int) -> Text:
    return Text(f"{count:,}", STYLES[kind]) if count else Text("-", "dim")


def _notes(scores: Sequence[Score]) -> Iterator[str]:
    """Say what the marks leave out."""
    if not any(each.by_default for each in scores):
        yield f"of no reader it is known that its settings are its engine's own ({DEFAULT})"
        return
    yield f"{DEFAULT}: nobody chose a setting otherwise than the engine has it by itself"
    alike = grouped((each.ours, each.reader) for each in scores if each.by_default and each.ours)
    for ours, readers in alike.items():
        yield f"set by the harness all the same for {'; '.join(readers)}: {ours}"


def _causes(texts: Sequence[CauseText], console: Console, html: Path | None) -> None:
    new = [each for each in texts if not each.known]
    _listed(console, "What is not correct", new, 1, html)
    known = [each for each in texts if each.known]
    _listed(console, "Known, and still there", known, len(new) + 1, html)


def _listed(
    console: Console, title: str, texts: Sequence[CauseText], first: int, html: Path | None
) -> None:
    if texts:
        say(console, f"\n{title}: {counted(len(texts), 'cause')}", "bold")
    for number, each in enumerate(texts, first):
        item(console, each.headline, STYLES[each.verdict], f"{number:3}.")
        for name, said in (
            ("by", each.readers), ("where", each.where), ("seen", each.seen),
            ("do", each.to_do), ("known", each.known),
        ):  # fmt: skip
            if said:
                item(console, said, "dim", f"     {name:5}")
        command(console, f" {each.commands[0]}")
        if html:
            command(console, f" {cause_address(html, number)}")


def _steps(run: Run, console: Console) -> None:
    if run.half_done_steps:
        say(console, "\nSteps that are half-done: committed, then the writer failed", "bold")
    for what, why in summary.half_done_steps(run):
        item(console, f"{what}: {why}", STYLES[VerdictKind.REFUSED])
    if wrong := list(summary.wrong_steps(run)):
        say(console, f"\n{summary.WRONG_STEPS}", "bold")
    for what, why in wrong:
        item(console, f"{what}: {why}", STYLES[VerdictKind.WRONG])
    if run.failed_steps:
        say(console, "\nSteps that were not applied", "bold")
    for what, why in summary.failed_steps(run):
        item(console, f"{what}: {why}", STYLES[VerdictKind.UNKNOWN])
    if run.info.excluded:
        say(console, "\nLeft out of the plan", "bold")
    for why, alike in grouped((each.why, each.what) for each in run.info.excluded).items():
        left = f" and {len(alike) - AT_ONCE} more" if len(alike) > AT_ONCE else ""
        item(console, f"{'; '.join(alike[:AT_ONCE])}{left}: {why}")


def _alarms(run: Run, console: Console) -> None:
    for alarm in agreement.alarms(run):
        say(console, f"ALARM: {alarm.text}", "bold yellow")


def _pairs(run: Run, console: Console) -> None:
    if not (run.info.pairs or run.info.partly):
        return
    say(console, "\nPairs of axis values", "bold")
    if said := pairs.said(run.info.pairs):
        item(console, f"{said}.")
    for pair, scenarios in pairs.impossible(run.info.pairs):
        where = counted(len(scenarios), "scenario")
        item(console, f"not covered in {where}: {pair.what}: {pair.why}")
    if run.info.partly:
        say(console, f"{pairs.PARTLY}:")
    for line in pairs.asked(run.info.partly):
        item(console, line)


def _totals(run: Run, console: Console) -> None:
    totals = summary.totals(run)
    known = sum(1 for each in run.verdicts if each.known)
    parts = [f"{count:,} {kind}" for kind, count in totals.items() if count]
    line = f"\n{counted(len(run.verdicts), 'cell')}: {', '.join(parts) or 'none planned'}"
    say(console, line + (f"; {known:,} of them known" if known else ""), "bold")
    if said := summary.explained(run):
        say(console, said)
    if met := tolerance_counts.met(run.verdicts):
        say(console, f"Normalised, as declared: {'; '.join(each.text for each in met)}.")
    again = len(summary.flaky(run))
    if again:
        say(console, f"Flaky: {counted(again, 'answer')} came only on a second try.", "yellow")
    if reused := sum(1 for each in run.verdicts if each.reused):
        told = f"{counted(reused, 'answer')} reused from an identical table state"
        say(console, f"{told} (--fresh asks again).")
