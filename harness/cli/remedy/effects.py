"""What other settings do to a case and to the other cells of its scenario. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.core.grouping import grouped
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.scenario.cells import Reader


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
    reader: Reader,
    question: QuestionKey,
    verdicts: Iterable[Verdict],
    before: Mapping[QuestionKey, Verdict],
) -> Effect:
    """Compare the verdicts of a reader with those of the one before, by their questions."""
    mine = {verdict.question: verdict for verdict in verdicts if verdict.reader == str(reader)}
    others = ((before.get(at), now) for at, now in mine.items() if at != question)
    found = grouped((_turn(then, now), now) for then, now in others)
    return Effect(
        reader,
        mine.get(question),
        turned_right=tuple(found.get("turned right", ())),
        turned_wrong=tuple(found.get("turned wrong", ())),
        still_wrong=tuple(found.get("still wrong", ())),
        still_right=len(found.get("still right", ())),
        unknown=tuple(found.get("unknown", ())),
    )


def _turn(before: Verdict | None, now: Verdict) -> str:
    known = {VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED}
    if before is None or before.verdict not in known or now.verdict not in known:
        return "unknown"
    was, is_ = (verdict.verdict is VerdictKind.CORRECT for verdict in (before, now))
    if is_:
        return "still right" if was else "turned right"
    return "turned wrong" if was else "still wrong"
