"""Turns with what they have in common: the run, what they turned to, and what differed. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

from harness.comparison.history import CellHistory, History, Turn
from harness.comparison.run_differences import RunDifference
from harness.comparison.verdict_change import WORSE, VerdictChange
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.run import causes
from harness.run.kept_run import KeptCell, KeptRun
from harness.scenario.cells import parse_reader

NOT_RIGHT: Final = (VerdictKind.WRONG, VerdictKind.REFUSED)
"""What is not right, the silent first; what is declared unsupported is as it was declared."""


@dataclass(frozen=True, slots=True)
class TurnGroup:
    """Turns of one class in one run, where the same differed; of one symptom where that counts."""

    turns: tuple[tuple[CellHistory, Turn], ...]
    """At least one."""
    cell: KeptCell
    """One that speaks for all: as it turned, or as it is now where that counts."""

    @property
    def first(self) -> Turn:
        """Return one that speaks for all."""
        return self.turns[0][1]

    @property
    def run(self) -> KeptRun:
        """Return the run in which they turned."""
        return self.first.run

    @property
    def change(self) -> VerdictChange:
        """Return what became of them."""
        return self.first.change

    @property
    def differs(self) -> tuple[RunDifference, ...]:
        """Return in what that run differs from the one before."""
        return self.first.differs

    @property
    def readers(self) -> tuple[str, ...]:
        """Return whose answers they are; of steps the writers."""
        return tuple(dict.fromkeys(turn.cell.reader for _, turn in self.turns))

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Return of which scenarios they are."""
        return tuple(dict.fromkeys(each.scenario for each, _ in self.turns))


def not_right_now(history: History) -> tuple[TurnGroup, ...]:
    """Return what the newest run finds wrong or refused, by symptom; the newest turn first."""
    wrong = [(e, e.since) for e in history.now if e.cell.verdict in NOT_RIGHT]
    keys = ((*_turned(turn), *_shown(cell.cell)) for cell, turn in wrong)
    found = grouped(zip(keys, wrong, strict=True)).values()
    return _ordered(TurnGroup(tuple(each), each[0][0].cell) for each in found)


def all_turns(history: History) -> tuple[TurnGroup, ...]:
    """Return every turn but the first question of each cell, of the newest run first."""
    turns = ((each, turn) for each in history.cells for turn in each.turns[1:])
    found = grouped((_turned(turn), (cell, turn)) for cell, turn in turns).values()
    return _ordered(TurnGroup(tuple(each), each[0][1].cell) for each in found)


def _ordered(groups: Iterable[TurnGroup]) -> tuple[TurnGroup, ...]:
    worst = sorted(groups, key=_rank)
    return tuple(sorted(worst, key=lambda each: each.run.info.started, reverse=True))


def _turned(turn: Turn) -> tuple[Hashable, ...]:
    before = turn.before.number if turn.before else None
    return turn.run.number, before, turn.differs, turn.change


def _shown(cell: KeptCell) -> tuple[Hashable, ...]:
    distribution = parse_reader(cell.reader).distribution if cell.reader else ""
    return cell.verdict, cell.symptom, causes.engine(distribution)


def _rank(group: TurnGroup) -> tuple[int, int, int]:
    worse, kind = group.change in WORSE, group.cell.verdict
    at = NOT_RIGHT.index(kind) if kind in NOT_RIGHT else len(NOT_RIGHT)
    return (not worse, at, -len(group.turns))
