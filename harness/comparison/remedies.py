"""Settings of the new side that were tried: what they make right, and what wrong. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from harness.comparison.cell_pairs import CellPair
from harness.comparison.verdict_change import WORSE, VerdictChange
from harness.core.records import QuestionKey, Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Remedy:
    """Settings with which every cell of the new side was asked that is worse, or that is right."""

    reader: str
    """The new side's reader with them."""
    changes: tuple[str, ...]
    """What is set otherwise: `use-column-names=true`."""
    heals: frozenset[QuestionKey]
    """The questions that are worse without them, and right with them."""
    harms: frozenset[QuestionKey]
    """The questions that are right without them, and with them are not, or are not known to be."""
    lines: tuple[str, ...] = ()
    """What to put into the engine's configuration; empty where only the harness's words are known.
    """

    @property
    def told(self) -> tuple[str, ...]:
        """Return what to set, in the engine's own words where these are known."""
        return self.lines or self.changes


def remedy(
    reader: str,
    changes: Iterable[str],
    asked: Iterable[Verdict],
    worse: Collection[QuestionKey],
    right: Collection[QuestionKey],
) -> Remedy:
    """Return what settings do, by the verdicts with them.

    Args:
        reader: the reader with these settings.
        changes: what is set otherwise.
        asked: its verdicts.
        worse: the questions that the reader without them answers worse than the old side.
        right: those that it answers rightly.

    """
    verdicts = {each.question: each.verdict for each in asked if each.reader == reader}
    good = {question for question, kind in verdicts.items() if kind is VerdictKind.CORRECT}
    return Remedy(
        reader, tuple(changes), frozenset(good & set(worse)), frozenset(set(right) - good)
    )


def instead(
    name: str, changes: Iterable[str], without: Iterable[CellPair], found: Iterable[CellPair]
) -> Remedy:
    """Return what another new side does, by its pairs: it writes other tables than that without.

    A question of the old side is right then if it is so on every table that stands for it.
    """
    bad = {*WORSE, VerdictChange.UNKNOWN}
    found = tuple(found)
    asked = {each.old.question for each in found if each.old}
    spoilt = {each.old.question for each in found if each.old and each.change in bad}
    heals, harms = set[QuestionKey](), set[QuestionKey]()
    for each in without:
        if each.old is None or each.new is None:
            continue
        helped = each.old.question in asked - spoilt
        if each.change in WORSE and helped:
            heals.add(each.new.question)
        elif each.new.verdict is VerdictKind.CORRECT and not helped:
            harms.add(each.new.question)
    return Remedy(name, tuple(changes), frozenset(heals), frozenset(harms))


def in_order(found: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Return the settings that heal anything: without harm first, then those that heal most."""
    helping = (each for each in found if each.heals)
    return tuple(
        sorted(helping, key=lambda e: (bool(e.harms), -len(e.heals), len(e.harms), len(e.changes)))
    )


def of_cause(worse: Collection[QuestionKey], found: Iterable[Remedy]) -> Remedy | None:
    """Return the first of the settings that make all of these questions right."""
    return next((each for each in found if each.heals >= set(worse)), None)


def whole(worse: Collection[QuestionKey], found: Iterable[Remedy]) -> Remedy | None:
    """Return the first of the settings that make all of these questions right, and none wrong."""
    return of_cause(worse, (each for each in found if not each.harms))
