"""What other settings do to a case and to the other cells of its scenario. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.core.records import Verdict, VerdictKind
from harness.scenario.cells import Reader

Place = tuple[str, int, str, str]
"""Variant, step, view and question: what one cell and that of another reader have in common."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What the verdicts are under other settings."""

    reader: Reader
    case: Verdict | None
    """That of the case itself; None where nothing was asked."""
    turned_right: tuple[Verdict, ...] = ()
    turned_wrong: tuple[Verdict, ...] = ()
    """Right with the settings of before; wrong or refused now."""
    still_wrong: tuple[Verdict, ...] = ()
    still_right: int = 0
    unknown: tuple[Verdict, ...] = ()
    """Where nothing is known before or now."""

    @property
    def heals(self) -> bool:
        """Whether the case is right now."""
        return self.case is not None and self.case.verdict is VerdictKind.CORRECT


def effect(
    reader: Reader, place: Place, verdicts: Iterable[Verdict], before: Mapping[Place, Verdict]
) -> Effect:
    """Compare the verdicts of a reader with those of the one before, by their places."""
    mine = {place_of(each): each for each in verdicts if each.reader == str(reader)}
    found: dict[str, list[Verdict]] = {}
    for at, now in mine.items():
        if at != place:
            found.setdefault(_turn(before.get(at), now), []).append(now)
    return Effect(
        reader,
        mine.get(place),
        turned_right=tuple(found.get("turned right", ())),
        turned_wrong=tuple(found.get("turned wrong", ())),
        still_wrong=tuple(found.get("still wrong", ())),
        still_right=len(found.get("still right", ())),
        unknown=tuple(found.get("unknown", ())),
    )


def place_of(verdict: Verdict) -> Place:
    """Return where a verdict belongs, whoever was asked."""
    return verdict.variant, verdict.step, verdict.view, verdict.query


def _turn(before: Verdict | None, now: Verdict) -> str:
    known = {VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED}
    if before is None or before.verdict not in known or now.verdict not in known:
        return "unknown"
    was, is_ = (each.verdict is VerdictKind.CORRECT for each in (before, now))
    if is_:
        return "still right" if was else "turned right"
    return "turned wrong" if was else "still wrong"
