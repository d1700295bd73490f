"""How many answers of each reader are right, wrong, refused …, on either side. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.comparison.cell_pairs import CellPair
from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """A reader of the new side beside that of the old one; an empty name where there is none."""

    old: str
    new: str
    before: Mapping[VerdictKind, int]
    after: Mapping[VerdictKind, int]


def reader_scores(found: Iterable[CellPair]) -> tuple[ReaderScore, ...]:
    """Return a line for each reader; steps are nobody's answers.

    A cell of the old side that stands beside several of the new one counts once.
    """
    asked = (each for each in found if not each.is_step)
    lines = grouped(((_reader(each.old), _reader(each.new)), each) for each in asked)
    return tuple(
        ReaderScore(old, new, _counts(each.old for each in of), _counts(each.new for each in of))
        for (old, new), of in lines.items()
    )


def _reader(verdict: Verdict | None) -> str:
    return verdict.reader if verdict else ""


def _counts(verdicts: Iterable[Verdict | None]) -> Mapping[VerdictKind, int]:
    kinds = {each.case: each.verdict for each in verdicts if each}
    counted = Counter(kinds.values())
    return {kind: counted[kind] for kind in VerdictKind}
