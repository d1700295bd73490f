"""The history of runs in sentences: since when what is wrong is wrong, and what differed then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from harness.comparison.history import History
from harness.comparison.turn_groups import NOT_RIGHT, TurnGroup, not_right_now
from harness.comparison.verdict_change import VerdictChange
from harness.core.counting import counted
from harness.core.records import VerdictKind
from harness.reports.upgrade_words import CHANGES
from harness.reports.words import VERDICTS
from harness.run.kept_run import KeptRun

FEW: Final = 3
"""So many names are listed; of more, only how many."""
NOTHING_DIFFERS: Final = (
    "nothing that is kept of a run differs: the engine gave another answer to the same question"
)
NEVER: Final = "nothing says since when"


def headline(history: History) -> str:
    """Return how many answers are not right in the newest run, and since when."""
    newest, groups = history.runs[-1], not_right_now(history)
    number = Counter[VerdictKind]()
    for each in groups:
        number[each.cell.verdict] += len(each.turns)
    if not groups:
        return f"In {named(newest)}, nothing that was chosen is known to be wrong or refused."
    kinds = " and ".join(f"{number[k]:,} {VERDICTS[k].label}" for k in NOT_RIGHT if number[k])
    if len(history.runs) == 1:
        return (
            f"In {named(newest)}, {kinds}. No other run of {newest.info.profile} is kept: {NEVER}."
        )
    told = Counter[str]()
    for each in groups:
        told[since(each, history)] += len(each.turns)
    parts = [f"{n:,} {when}" for when, n in told.items()] if len(told) > 1 else list(told)
    more = "; and others, as below" if len(parts) > FEW else ""
    return f"In {named(newest)}, {kinds}: {'; '.join(parts[:FEW])}{more}."


def unknown(history: History) -> str:
    """Return how many answers the newest run does not know; empty where it knows all."""
    own = history.counts.get(history.runs[-1].number, Counter())
    if not (number := own[VerdictKind.UNKNOWN]):
        return ""
    told = f"Of {counted(number, 'cell')} it knows nothing; these are neither right nor wrong"
    last = sum(bool(e.unknown) and e.cell.verdict in NOT_RIGHT for e in history.cells)
    return f"{told}{f'; not right when last known: {last:,}' if last else ''}."


def fewer(history: History) -> str:
    """Return how many questions the newest run asked, where the one before asked more."""
    if len(history.runs) == 1:
        return ""
    totals = [history.counts.get(each.number, Counter()).total() for each in history.runs[-2:]]
    if totals[1] >= totals[0]:
        return ""
    asked, before = counted(totals[1], "question"), named(history.runs[-2])
    return f"It asked {asked}, {before} {totals[0]:,}: of the others nothing is new."


def since(group: TurnGroup, history: History) -> str:
    """Say since which run it is so."""
    if group.change is not VerdictChange.NEW:
        return f"since {named(group.run)}"
    if group.run is history.runs[0]:
        return f"since {named(group.run)} at least, the oldest run kept"
    return f"since {named(group.run)}, which asked first"


def differed(group: TurnGroup) -> str:
    """Say what differed from the run before; empty where there was none."""
    if (before := group.first.before) is None:
        return ""
    differs = "; ".join(map(str, group.differs)) or NOTHING_DIFFERS
    return f": {differs} (before: {named(before)})"


def symptom(group: TurnGroup) -> str:
    """Say how many answers are how, and what they were before."""
    cell = group.cell
    what = f"{VERDICTS[cell.verdict].label}{f' ({cell.symptom})' if cell.symptom else ''}"
    before = f"; {CHANGES[group.change]}" if group.first.before else ""
    return f"{_number(group)} {what} {_extent(group)}{before}"


def change(group: TurnGroup) -> str:
    """Say what became of how many answers."""
    return f"{_number(group)}: {CHANGES[group.change]}, {_extent(group)}"


def _number(group: TurnGroup) -> str:
    noun = ("answer", "answers") if any(group.readers) else ("step", "steps")
    return counted(len(group.turns), *noun)


def _extent(group: TurnGroup) -> str:
    """Say whose answers they are, and in which scenarios."""
    readers = [each for each in group.readers if each]
    by = f" by {listed(readers, 'readers')}" if readers else ""
    return f"in {listed(group.scenarios, 'scenarios')}{by}"


def listed(names: Iterable[str], many: str) -> str:
    """Return a few names, or how many there are."""
    told = list(names)
    return ", ".join(told) if len(told) <= FEW else f"{len(told)} {many}"


def named(run: KeptRun) -> str:
    """Return a run's name with the day on which it began."""
    return f"{run.name} ({run.info.started:%Y-%m-%d})"
