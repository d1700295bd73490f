"""What a comparison comes to on somebody's own tables, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from harness.comparison.own_tables import MetBy, wrong_today
from harness.comparison.regressions import Regression
from harness.comparison.result import SideComparison
from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.reports.words import FINDINGS

NAMED: Final = 5
"""So many tables are named; of more, how many there are."""


def tables_text(names: Iterable[str]) -> str:
    """Name tables, the first few of many."""
    found = list(names)
    more = len(found) - NAMED
    return ", ".join(found[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def met_text(found: MetBy) -> str:
    """Say which tables can meet a cause."""
    if not found:
        return "None of your tables can meet it."
    told = (
        f"{counted(len(found.tables), 'table')} of yours can meet it: {tables_text(found.tables)}"
    )
    if not found.unsure:
        return f"{told}."
    sure = len(found.tables) - len(found.unsure)
    why = next(iter(found.unsure.values()))
    return f"{told}; {len(found.unsure):,} of them {why}." if sure else f"{told}; {why}."


def concerned(found: SideComparison) -> str:
    """Say how many of somebody's tables can meet what is worse; empty where no usage is known."""
    if found.usage is None:
        return ""
    tables = {name for each in found.relevant for name in found.met[each.key].tables}
    of = counted(len(found.usage.tables), "table")
    return f", which {len(tables):,} of your {of} can meet," if tables else ""


def irrelevant(found: SideComparison) -> tuple[Regression, ...]:
    """Return the causes that none of somebody's tables can meet."""
    return tuple(each for each in found.regressions if each not in found.relevant)


def today(found: SideComparison) -> Iterator[str]:
    """Say what is wrong on the old side already on somebody's own tables."""
    if found.usage is None:
        return
    for key, met in wrong_today(found.old.run, found.usage):
        what = FINDINGS[key.finding].label if key.finding else key.symptom.what
        since = f" since {key.operation}" if key.operation else ""
        yield f"{key.engine}: {what}{since}. {met_text(met)}"


def not_covered(found: SideComparison) -> Iterator[str]:
    """Say of which tables nothing is known, by the reason."""
    for why, names in grouped((why, name) for name, why in found.not_covered.items()).items():
        yield f"{counted(len(names), 'table')}: {why} ({tables_text(names)})"
