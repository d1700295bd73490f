"""The report for a terminal: what each reader answered after each step, and what it means.

Everything is said in words; colour only repeats it, and only on a terminal.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.reports import agreement, pairs, summary, tolerance_counts
from harness.reports.legend import legend, short_names
from harness.reports.lines import command, item, say
from harness.reports.matrices import STYLES, counts, matrices
from harness.reports.words import counted
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
    if len(run.info.variants) > MANY:
        counts(run, console)
    else:
        matrices(run, labels, console)
    legend(run, labels, console)
    groups = summary.group_findings(run)
    _groups(groups, console)
    _steps(run, console)
    _pairs(run, console)
    _alarms(run, console)
    _totals(run, console)
    if groups:
        say(console, "The first one in full, with what to do about it:")
        command(console, f"harness explain {shlex.quote(groups[0].cases[0])}")
    if html:
        say(console, f"Every cell with its tables, SQL and files: {html}")


def _groups(groups: Sequence[summary.ResultGroup], console: Console) -> None:
    _listed(console, "What is not correct", [each for each in groups if not each.known])
    _listed(console, "Known, and still there", [each for each in groups if each.known])


def _listed(console: Console, title: str, groups: Sequence[summary.ResultGroup]) -> None:
    if groups:
        say(console, f"\n{title}", "bold")
    for each in groups:
        item(console, each.text, STYLES[each.verdict])


def _steps(run: Run, console: Console) -> None:
    if run.half_done_steps:
        say(console, "\nSteps that are half-done: committed, then the writer failed", "bold")
    for what, why in summary.half_done_steps(run):
        item(console, f"{what}: {why}", STYLES[VerdictKind.REFUSED])
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
