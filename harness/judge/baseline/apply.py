"""Which verdicts are known, and which lines of a baseline no longer occur."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core.records import Verdict
from harness.judge.baseline.known import Known, holds
from harness.judge.baseline.seen import Facts, Seen, seen_of, seen_of_steps


@dataclass(frozen=True, slots=True)
class Applied:
    """Verdicts with what is known of them, and what is to be said of the baselines."""

    verdicts: tuple[Verdict, ...]
    gone: tuple[Known, ...] = ()
    """Lines that no longer occur: the run has cells of theirs, and none answers as they say."""
    idle: tuple[Known, ...] = ()
    """Lines of which this run has no cell; nothing is said of them."""
    unreviewed: tuple[Known, ...] = ()
    """Lines whose `because` is still to be written."""
    expired: tuple[Known, ...] = ()
    """Lines whose date has passed; they do not count."""
    answered: tuple[Verdict, ...] = ()
    """Those that their reader answered, although it is declared not to know such tables."""


def apply(
    verdicts: Sequence[Verdict],
    known: Mapping[str, Sequence[Known]],
    facts: Facts,
    today: datetime.date,
) -> Applied:
    """Fill `Verdict.known` where the first line that holds expects exactly what was found.

    `known` has the lines of each scenario. Of a line that another one before it hides in this run,
    and of one whose cells are all unknown, nothing is said.
    """
    lines = Lines(known, facts, today)
    return lines.applied([lines.apply(verdict) for verdict in verdicts])


class Lines:
    """The baselines of a run, which its verdicts are held against one after another."""

    def __init__(
        self, known: Mapping[str, Sequence[Known]], facts: Facts, today: datetime.date
    ) -> None:
        """`known` has the lines of each scenario."""
        self._facts = facts
        self._every = [line for sequence in known.values() for line in sequence]
        self._expired = tuple(line for line in self._every if not line.counts(today))
        self._lines = {name: [k for k in each if k.counts(today)] for name, each in known.items()}
        self._tried, self._occurring = set[Known](), set[Known]()

    def apply(self, verdict: Verdict) -> Verdict:
        """Return a verdict with what is known of it."""
        if not self._lines.get(verdict.scenario):
            return replace(verdict, known="") if verdict.known else verdict
        return replace(verdict, known=self._match(seen_of(verdict, self._facts)))

    def applied(self, verdicts: Sequence[Verdict]) -> Applied:
        """Return the verdicts, to which all was applied, with what is to be said of the lines."""
        for seen_of_step in seen_of_steps(self._facts, verdicts):
            self._match(seen_of_step)
        counted = [line for each in self._lines.values() for line in each]
        gone = self._tried - self._occurring
        return Applied(
            verdicts=tuple(verdicts),
            gone=tuple(line for line in counted if line in gone),
            idle=tuple(line for line in counted if line not in self._tried),
            unreviewed=tuple(line for line in self._every if not line.reviewed),
            expired=self._expired,
            answered=tuple(verdict for verdict in verdicts if verdict.disclaimed),
        )

    def _match(self, seen: Seen) -> str:
        """Return the reason of the line that knows a place; empty where none does."""
        line = _first(self._lines.get(seen.scenario, ()), seen)
        if line and seen.judged:
            self._tried.add(line)
        if line is None or not _knows(line, seen):
            return ""
        self._occurring.add(line)
        return line.because


def _knows(line: Known, seen: Seen) -> bool:
    return line.expect == seen.shown and line.expect.knowable


def _first(lines: Sequence[Known], seen: Seen) -> Known | None:
    return next((line for line in lines if holds(line.when, seen.properties)), None)
