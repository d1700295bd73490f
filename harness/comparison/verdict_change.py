"""The class of a pair of cells: what became of an answer from the old side to the new one. Pure.

Both sides are judged against the truth, never against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from harness.core.records import Finding, FindingKind, Verdict, VerdictKind

WrongPlace = tuple[FindingKind, str, str, str]
"""A wrong place wherever it was read from: the finding, the row's key, the column, the value."""


class VerdictChange(StrEnum):
    """What became of an answer; each pair of cells is in exactly one of these classes."""

    REGRESSED = "regressed"
    """It was right, and is wrong without an error."""
    REGRESSED_SILENTLY = "regressed silently"
    """There was an error, and is a wrong answer."""
    WRONG_OTHERWISE = "wrong otherwise"
    """It was wrong, and is so in a place, or in a way, in which it was not."""
    REGRESSED_LOUDLY = "regressed loudly"
    """It was right, and there is an error."""
    FIXED = "fixed"
    REFUSED_NOW = "refused now"
    """It was wrong, and there is an error."""
    WRONG_AS_BEFORE = "wrong as before"
    """Each wrong place was so before; there may be fewer."""
    REFUSED_AS_BEFORE = "refused as before"
    RIGHT_AS_BEFORE = "right as before"
    NEW = "new"
    """Only the new side has the cell."""
    GONE = "gone"
    """Only the old side has it."""
    UNKNOWN = "unknown"
    """Of one side nothing is known; it is never counted as anything else."""


WORSE: Final = (
    VerdictChange.REGRESSED,
    VerdictChange.REGRESSED_SILENTLY,
    VerdictChange.WRONG_OTHERWISE,
    VerdictChange.REGRESSED_LOUDLY,
)
"""What speaks against the new side, the most harmful first: silent before loud."""
BETTER: Final = (VerdictChange.FIXED, VerdictChange.REFUSED_NOW)
AS_BEFORE: Final = (
    VerdictChange.RIGHT_AS_BEFORE,
    VerdictChange.WRONG_AS_BEFORE,
    VerdictChange.REFUSED_AS_BEFORE,
)

_RIGHT, _WRONG, _ERROR = "right", "wrong", "error"
_OUTCOMES: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.CORRECT: _RIGHT,
    VerdictKind.WRONG: _WRONG,
    VerdictKind.REFUSED: _ERROR,
    VerdictKind.UNSUPPORTED: _ERROR,  # declared, and refused when it was asked
}
_CLASSES: Final[Mapping[tuple[str, str], VerdictChange]] = {
    (_RIGHT, _RIGHT): VerdictChange.RIGHT_AS_BEFORE,
    (_RIGHT, _WRONG): VerdictChange.REGRESSED,
    (_RIGHT, _ERROR): VerdictChange.REGRESSED_LOUDLY,
    (_WRONG, _RIGHT): VerdictChange.FIXED,
    (_WRONG, _WRONG): VerdictChange.WRONG_AS_BEFORE,
    (_WRONG, _ERROR): VerdictChange.REFUSED_NOW,
    (_ERROR, _RIGHT): VerdictChange.FIXED,
    (_ERROR, _WRONG): VerdictChange.REGRESSED_SILENTLY,
    (_ERROR, _ERROR): VerdictChange.REFUSED_AS_BEFORE,
}
_ELSEWHERE: Final = {
    VerdictChange.WRONG_AS_BEFORE: VerdictChange.WRONG_OTHERWISE,
    VerdictChange.REFUSED_AS_BEFORE: VerdictChange.REGRESSED_SILENTLY,
}
"""What a class becomes where there is a wrong place that was none."""


def change(old: Verdict | None, new: Verdict | None) -> VerdictChange:
    """Return the class of a pair of cells; None where a side has no such cell.

    Raises:
        ValueError: no side has it.

    """
    if new is None or old is None:
        if old is new:
            raise ValueError("a pair has a cell of one side at least")
        return VerdictChange.GONE if new is None else VerdictChange.NEW
    elsewhere = bool(new.findings) and bool(places(new) - places(old))
    return class_of(old.verdict, new.verdict, elsewhere=elsewhere)


def class_of(old: VerdictKind, new: VerdictKind, *, elsewhere: bool) -> VerdictChange:
    """Return the class of two verdicts on a cell.

    `elsewhere`: whether the new side has a wrong place that the old one has not; errors may have
    some too, of columns asked alone.
    """
    if VerdictKind.UNKNOWN in (old, new):
        return VerdictChange.UNKNOWN
    verdict_change = _CLASSES[_OUTCOMES[old], _OUTCOMES[new]]
    return _ELSEWHERE.get(verdict_change, verdict_change) if elsewhere else verdict_change


def places(verdict: Verdict) -> frozenset[WrongPlace]:
    """Return every wrong place of an answer, whatever file it was read from."""
    return frozenset(place for finding in verdict.findings for place in finding_places(finding))


def finding_places(finding: Finding) -> frozenset[WrongPlace]:
    """Return the places that a finding explains."""
    return frozenset(
        (finding.kind, witness.key, witness.column, repr(witness.actual))
        for witness in finding.places
    )
