"""The answer to "may I upgrade?", and the exit status that says so. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.comparison.remedies import Remedy
from harness.judge.gate import GOOD, NEW, UNKNOWN


class Decision(StrEnum):
    """What to do."""

    NOTHING_CHANGES = "nothing changes"
    NOTHING_WORSE = "nothing gets worse"
    WITH_SETTING = "upgrade with this setting"
    DO_NOT = "do not upgrade"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much is known."""

    asked: int
    """So many questions were answered by both sides."""
    unknown: int = 0
    """Of so many questions, and of somebody's own tables, nothing is known."""
    changed: int = 0
    """So many answers are better, or are those of one side alone."""

    @property
    def enough(self) -> bool:
        """Whether there is an answer where nothing is worse."""
        return bool(self.asked) and not self.unknown


def decide(known: Coverage, *, worse: int, remedy: Remedy | None) -> Decision:
    """Return what to do; `remedy`: settings with which nothing is worse any more.

    What is worse speaks against the new side whatever else is not known. Where nothing is known to
    be worse, and something is not known, neither is the answer.
    """
    if worse:
        return Decision.WITH_SETTING if remedy else Decision.DO_NOT
    if not known.enough:
        return Decision.NOT_KNOWN
    return Decision.NOTHING_WORSE if known.changed else Decision.NOTHING_CHANGES


def status(known: Coverage, *, worse: int) -> int:
    """Return 3 if something is not known, else 1 if anything is worse, else 0."""
    if not known.enough:
        return UNKNOWN
    return NEW if worse else GOOD
