"""Settings of the new side that were tried: what they make right, and what wrong. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from harness.comparison.cell_pairs import CellPair
from harness.comparison.verdict_change import WORSE, VerdictChange
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.run.setting_lines import SettingLine


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
    lines: tuple[SettingLine, ...] = ()
    """What to put into the engine's configuration; empty where only the harness's words are known.
    """

    @property
    def settings(self) -> tuple[SettingLine, ...]:
        """What to set, in the engine's own words where these are known."""
        return self.lines or tuple(SettingLine(change, "") for change in self.changes)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(map(str, self.settings))


def reader_remedy(
    reader: str,
    changes: Iterable[str],
    verdicts: Iterable[Verdict],
    worse: Collection[QuestionKey],
    right: Collection[QuestionKey],
) -> Remedy:
    """Return what settings of a reader do.

    Args:
        reader: the reader with these settings.
        changes: what is set otherwise.
        verdicts: those on its answers; others are passed over.
        worse: the questions that the reader without them answers worse than the old side.
        right: those that it answers rightly.

    """
    kinds = {verdict.question: verdict.verdict for verdict in verdicts if verdict.reader == reader}
    good = {question for question, kind in kinds.items() if kind is VerdictKind.CORRECT}
    return Remedy(
        reader, tuple(changes), frozenset(good & set(worse)), frozenset(set(right) - good)
    )


def writer_remedy(
    writer: str, changes: Iterable[str], without: Iterable[CellPair], pairs: Iterable[CellPair]
) -> Remedy:
    """Return what settings of a writer do, which make other tables.

    A question of the old side is right then if it is so on every table that stands for it.
    `without`: the pairs without these settings.
    """
    bad = {*WORSE, VerdictChange.UNKNOWN}
    asked = [(pair.old.question, pair.change) for pair in pairs if pair.old]
    helped = {question for question, _ in asked}
    helped -= {question for question, change in asked if change in bad}
    both = [
        (pair, pair.old.question in helped, pair.new) for pair in without if pair.old and pair.new
    ]
    heals = {new.question for pair, helps, new in both if helps and pair.change in WORSE}
    harms = {
        new.question for _, helps, new in both if not helps and new.verdict is VerdictKind.CORRECT
    }
    return Remedy(writer, tuple(changes), frozenset(heals), frozenset(harms))


def ranked(remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Return the settings that heal anything: without harm first, then those that heal most."""
    helping = (remedy for remedy in remedies if remedy.heals)
    return tuple(
        sorted(helping, key=lambda r: (bool(r.harms), -len(r.heals), len(r.harms), len(r.changes)))
    )


def remedy_for(worse: Collection[QuestionKey], remedies: Iterable[Remedy]) -> Remedy | None:
    """Return the first of the settings that make all of these questions right."""
    return next((remedy for remedy in remedies if remedy.heals >= set(worse)), None)
