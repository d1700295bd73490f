"""When each cell turned over the runs that are kept, and what differed then. Pure, but for reading.

A run in which nothing is known of a cell is no turn, and neither is one that does not ask it: a
verdict is held against the newest one before it that is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from harness.comparison.run_differences import DifferenceSearch, RunDifference, Seen
from harness.comparison.run_lines import run_lines
from harness.comparison.verdict_change import AS_BEFORE, VerdictChange, class_of
from harness.core.errors import UsageProblem
from harness.core.records import VerdictKind
from harness.run import frames
from harness.run.frames import FrameColumn
from harness.run.history_store import HistoryStore, Line
from harness.run.kept_run import KeptCell, KeptRun

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class CellFilter:
    """Which cells are wanted; an empty text wants all."""

    case: str = ""
    """A part of the case's name."""
    reader: str = ""
    """A name that any run has; `*` stands for anything."""
    scenario: str = ""

    def wants_reader(self, line: Line) -> bool:
        """Return whether the readers of a line are wanted; a step has none."""
        return any(_like(each, self.reader) for each in line.values())

    def wants_variant(self, line: Line, scenarios: Mapping[str, str]) -> bool:
        """Return whether the variants of a line are wanted."""
        return any(_like(scenarios.get(each, ""), self.scenario) for each in line.values())


@dataclass(frozen=True, slots=True)
class Turn:
    """A cell became other than it was, or was asked for the first time, or asked otherwise."""

    run: KeptRun
    cell: KeptCell
    before: KeptRun | None
    """The newest run before it in which the cell is known; None where there is none."""
    was: KeptCell | None
    change: VerdictChange
    differs: tuple[RunDifference, ...]


@dataclass(frozen=True, slots=True)
class CellHistory:
    """The turns of a cell, the oldest first; at least one."""

    turns: tuple[Turn, ...]
    scenario: str
    cell: KeptCell
    """As the newest run has it in which it is known."""
    last: KeptRun
    """That run."""
    unknown: KeptRun | None = None
    """The newest run, where that asked it and does not know."""

    @property
    def since(self) -> Turn:
        """Return the turn since which it is as it is."""
        return self.turns[-1]


@dataclass(frozen=True)  # no slots: what is derived is kept
class History:
    """The cells of a profile's runs that some run does not find right."""

    runs: tuple[KeptRun, ...]
    """The oldest first."""
    cells: tuple[CellHistory, ...]
    counts: Mapping[int, Counter[VerdictKind]]
    """How many questions of each run have which verdict, by the run's number; whatever is chosen.
    """
    others: Mapping[str, int]
    """How many runs of other profiles are kept."""

    @cached_property
    def now(self) -> tuple[CellHistory, ...]:
        """Return the cells that the newest run asked and knows."""
        newest = self.runs[-1].number
        return tuple(each for each in self.cells if each.last.number == newest)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each turn, and a type for each column."""
        turns = [(cell, turn) for cell in self.cells for turn in cell.turns]
        return frames.frame(turns, _FRAME)


_Column = FrameColumn[tuple[CellHistory, Turn]]
_FRAME: Final[Mapping[str, _Column]] = {
    "case": FrameColumn(frames.TEXT, lambda row: row[1].cell.case),
    "scenario": FrameColumn(frames.WORD, lambda row: row[0].scenario),
    "variant": FrameColumn(frames.WORD, lambda row: row[1].cell.variant),
    "step": FrameColumn(frames.NUMBER, lambda row: row[1].cell.step),
    "reader": FrameColumn(frames.WORD, lambda row: row[1].cell.reader),
    "view": FrameColumn(frames.WORD, lambda row: row[1].cell.view),
    "query": FrameColumn(frames.WORD, lambda row: row[1].cell.query),
    "run": FrameColumn(frames.WORD, lambda row: row[1].run.name),
    "started": FrameColumn(frames.TIME, lambda row: row[1].run.info.started),
    "before": FrameColumn(frames.WORD, lambda row: row[1].before.name if row[1].before else ""),
    "change": FrameColumn(tuple(VerdictChange), lambda row: row[1].change),
    "old_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[1].was and row[1].was.verdict),
    "new_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[1].cell.verdict),
    "symptom": FrameColumn(frames.WORD, lambda row: row[1].cell.symptom),
    "differs": FrameColumn(frames.WORD, lambda row: "; ".join(map(str, row[1].differs))),
    "lasts": FrameColumn(frames.FLAG, lambda row: row[1] is row[0].since),
    "last_run": FrameColumn(frames.WORD, lambda row: row[0].last.name),
    "last_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[0].cell.verdict),
}
"""The columns of `History.to_frame`."""


def history_of(store: HistoryStore, profile: str = "", chosen: CellFilter | None = None) -> History:
    """Return the history of a profile's runs; without a name, of the profile of the newest run.

    Raises:
        UsageProblem: no run of it is kept.

    """
    every, chosen = store.runs(), chosen or CellFilter()
    profile = profile or (every[-1].info.profile if every else "")
    runs = tuple(each for each in every if each.info.profile == profile)
    if not runs:
        of = f" of the profile {profile}" if profile else ""
        there = ", ".join(dict.fromkeys(each.info.profile for each in every)) or "none"
        raise UsageProblem(f"{store.path}: no run{of} is kept; profiles: {there}")
    others = Counter(each.info.profile for each in every if each not in runs)
    return History(runs, tuple(_cells(store, runs, chosen)), store.counts(), others)


def _cells(
    store: HistoryStore, runs: Sequence[KeptRun], chosen: CellFilter
) -> Iterator[CellHistory]:
    variants, readers = run_lines(runs)
    scenarios = {v.id: v.scenario for run in runs for v in run.info.variants}
    variants = tuple(each for each in variants if chosen.wants_variant(each, scenarios))
    readers = tuple(each for each in readers if chosen.wants_reader(each))
    place = {each.number: at for at, each in enumerate(runs)}
    differences, told = DifferenceSearch(runs), set[tuple[int, str]]()
    for line in store.lines(variants, readers):
        seen = sorted(line, key=lambda each: place[each[0]])
        newest = seen[-1][0], seen[-1][1].case
        # Two lines may have come of one: of what they had in common alone one of them tells.
        if newest not in told and chosen.case in newest[1]:
            told.add(newest)
            if found := _history(seen, runs, place, differences, scenarios):
                yield found


def _history(
    seen: Sequence[Seen],
    runs: Sequence[KeptRun],
    place: Mapping[int, int],
    differences: DifferenceSearch,
    scenarios: Mapping[str, str],
) -> CellHistory | None:
    """Return the history of a cell; None where no run knows it."""
    known = [each for each in seen if each[1].verdict is not VerdictKind.UNKNOWN]
    if not known:
        return None
    turns = tuple(_turns(known, lambda number: runs[place[number]], differences))
    number, cell = known[-1]
    last, newest = runs[place[number]], runs[place[seen[-1][0]]]
    unknown = newest if newest is runs[-1] and newest is not last else None
    return CellHistory(turns, scenarios.get(cell.variant, ""), cell, last, unknown)


def _turns(
    known: Sequence[Seen], run: Callable[[int], KeptRun], differences: DifferenceSearch
) -> Iterator[Turn]:
    first, cell = known[0]
    yield Turn(run(first), cell, None, None, VerdictChange.NEW, ())
    for was, now in pairwise(known):
        old, new = was[1], now[1]
        elsewhere = old is not new and bool(new.places - old.places)
        change = class_of(old.verdict, new.verdict, elsewhere=elsewhere)
        differs = differences.between(was, now)
        if change not in AS_BEFORE or any(each.another_question for each in differs):
            yield Turn(run(now[0]), new, run(was[0]), old, change, differs)


def _like(name: str, wanted: str) -> bool:
    return not wanted or fnmatchcase(name, wanted)
