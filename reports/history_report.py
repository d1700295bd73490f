"""The history of runs: since when what is wrong is wrong, and what differed then. Pure."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.history import NOT_RIGHT, History, TurnGroup
from harness.comparison.history_store import StoredRun
from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.reports.document import Block, Code, Heading, Item, Items, Line, ReportTable, table
from harness.reports.upgrade_report import CHANGES, TONES
from harness.reports.words import VERDICTS

FEW: Final = 3
"""So many names are listed; of more, only how many."""
MOST_GROUPS: Final = 12
NOTHING_DIFFERS: Final = (
    "nothing that is stored of a run differs: the engine gave another answer to the same question"
)


def document(history: History) -> Iterator[Block]:
    yield Line(strong=headline(history))
    yield from (Line(text, tone=VerdictKind.UNKNOWN) for text in doubts(history))
    now = [(group, _symptom(group)) for group in history.not_right_now]
    yield from _section("Not right now, since when, and what differed then", now, history)
    turns = [(group, f"{_number(group)}: {_change(group)}") for group in history.all_turns]
    yield from _section("Every turn, the newest first", turns, history)
    if turns and (before := turns[0][0].first.before):
        yield Line("Every answer of the newest turn, old beside new:")
        names = (shlex.quote(run.name) for run in (before, turns[0][0].first.run))
        yield Code(f"harness compare {' '.join(names)}")
    if history.others:
        others = ", ".join(f"{name} ({number})" for name, number in history.others.items())
        yield Line(f"Also stored, of other profiles (--profile): {others}")


def _section(
    title: str, groups: Sequence[tuple[TurnGroup, str]], history: History
) -> Iterator[Block]:
    if groups:
        yield Heading(title)
    pairs = ((_when(group, history), (group, text)) for group, text in groups[:MOST_GROUPS])
    for when, turns in grouped(pairs).items():
        yield Line(when)
        yield Items(
            tuple(
                Item(Line(text, tone=TONES.get(group.first.change)), (Code(group.cell.case),))
                for group, text in turns
            )
        )
    if (more := len(groups) - MOST_GROUPS) > 0:
        yield Line(f"and {more} more; all of them: harness history export FILE.csv")


def runs_table(runs: Iterable[StoredRun]) -> ReportTable:
    kinds = [VERDICTS[kind].label for kind in VerdictKind]
    return table(
        ("run", "profile", "began (UTC)", *kinds),
        (
            (
                run.name,
                run.info.profile,
                f"{run.info.started:%Y-%m-%d %H:%M}",
                *(f"{run.counts.get(kind, 0):,}" for kind in VerdictKind),
            )
            for run in runs
        ),
        numbers=kinds,
    )


def headline(history: History) -> str:
    newest, groups = history.runs[-1], history.not_right_now
    if not groups:
        return f"In {named(newest)}, nothing that was selected is known to be wrong or refused."
    numbers, since = Counter[VerdictKind](), Counter[str]()
    for group in groups:
        numbers[group.cell.verdict] += len(group.turns)
        since[_since(group, history)] += len(group.turns)
    kinds = " and ".join(f"{numbers[k]:,} {VERDICTS[k].label}" for k in NOT_RIGHT if numbers[k])
    if len(history.runs) == 1:
        no_other = f"No other run of {newest.info.profile} is stored: nothing says since when."
        return f"In {named(newest)}, {kinds}. {no_other}"
    parts = [f"{n:,} {when}" for when, n in since.items()] if len(since) > 1 else list(since)
    more = "; and others, as below" if len(parts) > FEW else ""
    return f"In {named(newest)}, {kinds}: {'; '.join(parts[:FEW])}{more}."


def doubts(history: History) -> Iterator[str]:
    """Say of how much the newest run knows nothing, and whether the one before asked more."""
    newest = history.runs[-1]
    if number := newest.counts.get(VerdictKind.UNKNOWN, 0):
        last = sum(cell.unknown and cell.cell.verdict in NOT_RIGHT for cell in history.cells)
        before = f"; not right when last known: {last:,}" if last else ""
        unknown = f"Of {counted(number, 'query', 'queries')} it knows nothing"
        yield f"{unknown}; these are neither right nor wrong{before}."
    totals = [sum(run.counts.values()) for run in history.runs[-2:]]
    if totals[-1] < totals[0]:
        asked, before = counted(totals[-1], "question"), named(history.runs[-2])
        yield f"It asked {asked}, {before} {totals[0]:,}: of the others nothing is new."


def _since(group: TurnGroup, history: History) -> str:
    run = group.first.run
    if group.first.change is not VerdictChange.NEW:
        return f"since {named(run)}"
    oldest = run is history.runs[0]
    return f"since {named(run)}" + (
        " at least, the oldest run stored" if oldest else ", which asked first"
    )


def _when(group: TurnGroup, history: History) -> str:
    since, differed = _since(group, history), ""
    if before := group.first.before:
        differs = "; ".join(group.first.differs) or NOTHING_DIFFERS
        differed = f": {differs} (before: {named(before)})"
    return f"{since[0].upper()}{since[1:]}{differed}"


def _symptom(group: TurnGroup) -> str:
    label, symptom = VERDICTS[group.cell.verdict].label, group.cell.symptom
    how = f"{label} ({symptom})" if symptom else label
    before = f"; {CHANGES[group.first.change]}" if group.first.before else ""
    return f"{_number(group)} {how} {_extent(group)}{before}"


def _change(group: TurnGroup) -> str:
    return f"{CHANGES[group.first.change]}, {_extent(group)}"


def _number(group: TurnGroup) -> str:
    return counted(len(group.turns), "answer" if any(group.readers) else "step")


def _extent(group: TurnGroup) -> str:
    readers = [reader for reader in group.readers if reader]
    by = f" by {_listed(readers, 'readers')}" if readers else ""
    return f"in {_listed(group.scenarios, 'scenarios')}{by}"


def _listed(names: Sequence[str], many: str) -> str:
    return ", ".join(names) if len(names) <= FEW else f"{len(names)} {many}"


def named(run: StoredRun) -> str:
    return f"{run.name} ({run.info.started:%Y-%m-%d})"


def runs_data(runs: Iterable[StoredRun]) -> list[dict[str, Any]]:
    return [
        {
            "run": run.name,
            "profile": run.info.profile,
            "started": run.info.started.isoformat(),
            "totals": {str(kind): number for kind, number in run.counts.items()},
        }
        for run in runs
    ]


def groups_data(groups: Iterable[TurnGroup]) -> list[dict[str, Any]]:
    """Return groups of turns as plain data, each with one case; an export has all cases."""
    return [
        {
            "run": group.first.run.name,
            "before": group.first.before.name if group.first.before else None,
            "change": str(group.first.change),
            "verdict": str(group.cell.verdict),
            "symptom": group.cell.symptom,
            "cells": len(group.turns),
            "differs": list(group.first.differs),
            "readers": list(group.readers),
            "scenarios": list(group.scenarios),
            "case": group.cell.case,
        }
        for group in groups
    ]
