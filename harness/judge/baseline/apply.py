"""Which verdicts are known, and which lines of a baseline no longer occur."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core.records import Verdict
from harness.judge.baseline.known import Known, holds
from harness.judge.baseline.seen import Facts, Seen, seen_of


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
    lines = {name: [k for k in each if k.counts(today)] for name, each in known.items()}
    places = seen_of(verdicts, facts)
    matches = [(_first(lines.get(seen.scenario, ()), seen), seen) for seen in places]
    tried = {line for line, seen in matches if line and seen.judged}
    occurring = {line for line, seen in matches if line and _knows(line, seen)}
    every = [line for each in known.values() for line in each]
    counted = [line for each in lines.values() for line in each]
    return Applied(
        verdicts=tuple(
            replace(verdict, known=line.because if line and _knows(line, seen) else "")
            for verdict, (line, seen) in zip(verdicts, matches, strict=False)
        ),
        gone=tuple(line for line in counted if line in tried - occurring),
        idle=tuple(line for line in counted if line not in tried),
        unreviewed=tuple(line for line in every if not line.reviewed),
        expired=tuple(line for line in every if not line.counts(today)),
        answered=tuple(each for each in verdicts if each.disclaimed),
    )


def _knows(line: Known, seen: Seen) -> bool:
    return line.expect == seen.found and line.expect.knowable


def _first(lines: Sequence[Known], seen: Seen) -> Known | None:
    return next((line for line in lines if holds(line.when, seen.properties)), None)
