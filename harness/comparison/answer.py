"""The answer to "may I upgrade?", and the exit status that says so. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from harness.comparison.remedies import Remedy
from harness.comparison.verdict_change import AS_BEFORE, BETTER, WORSE, VerdictChange

GOOD: Final = 0
WORSE_STATUS: Final = 1
UNKNOWN: Final = 3


class Decision(StrEnum):
    """What to do."""

    NOTHING_CHANGES = "nothing changes"
    NOTHING_WORSE = "nothing gets worse"
    WITH_SETTING = "upgrade with this setting"
    DO_NOT = "do not upgrade"
    NOT_KNOWN = "not known"


def decide(counts: Mapping[VerdictChange, int], remedy: Remedy | None) -> Decision:
    """Return what to do; `remedy`: settings with which nothing is worse any more.

    What is worse speaks against the new side whatever else is not known. Where nothing is known to
    be worse, and something is not known, neither is the answer.
    """
    if any(counts[each] for each in WORSE):
        return Decision.WITH_SETTING if remedy else Decision.DO_NOT
    if counts[VerdictChange.UNKNOWN] or not any(counts[each] for each in (*AS_BEFORE, *BETTER)):
        return Decision.NOT_KNOWN
    changed = any(counts[each] for each in (*BETTER, VerdictChange.NEW, VerdictChange.GONE))
    return Decision.NOTHING_WORSE if changed else Decision.NOTHING_CHANGES


def status(counts: Mapping[VerdictChange, int]) -> int:
    """Return 3 if something is not known, else 1 if anything is worse, else 0."""
    if counts[VerdictChange.UNKNOWN] or not any(
        counts[each] for each in (*AS_BEFORE, *BETTER, *WORSE)
    ):
        return UNKNOWN
    return WORSE_STATUS if any(counts[each] for each in WORSE) else GOOD
